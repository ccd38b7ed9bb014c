import type { Check } from '../check.js';
import type { RedisSettings } from '../config/settings.js';
import { failureOf } from './failure.js';
import { createLane, type Lane } from './lane.js';
import { createClusterLink } from './redis-cluster-link.js';
import { createSingleLink, type Link } from './redis-link.js';
import { type CodecOptions, createCodec, loadScript, type Script } from './script.js';
import type { Health, Outcome, Store } from './store.js';

export interface RedisStoreOptions {
  settings: RedisSettings;
  /** The service's clock, which only picks the calendar windows that the store's clock chooses from. */
  clock: CodecOptions['now'];
  onHealth?: (health: Health) => void;
  /** Decides by the service's clock instead. For tests, and for a Redis whose scripts may not read theirs. */
  serverClock?: boolean;
  /** Milliseconds that state keys outlive their meaning by. */
  graceMs?: number;
  script?: Script;
}

/** Redis, Sentinel or Cluster: at most one EVALSHA a check, shared with the checks that wait with it. */
export function createRedisStore(options: RedisStoreOptions): Store {
  const { settings, clock, serverClock = true, graceMs = 0, script = loadScript() } = options;
  const codec = createCodec({ prefix: settings.prefix, now: clock, serverClock, graceMs });
  const create = settings.mode === 'cluster' ? createClusterLink : createSingleLink;
  const link = create({ settings, script, onHealth: options.onHealth ?? (() => {}) });

  const send = async (checks: readonly Check[]): Promise<Outcome[]> => {
    try {
      return await sendBatch(link, codec, checks);
    } catch (error) {
      return checks.map(() => failureOf(error));
    }
  };

  const lanes = new Map<string, Lane>();
  const laneOf = (node: string): Lane => {
    let lane = lanes.get(node);
    if (lane === undefined) {
      lane = createLane({ send, timeoutMs: settings.timeoutMs });
      lanes.set(node, lane);
    }
    return lane;
  };
  const { route } = link;
  const only = laneOf('');
  const decide =
    route === undefined
      ? only.decide
      : (check: Check) => laneOf(route(codec.firstKey(check)).node).decide(check);

  return {
    async decide(checks) {
      const [first] = checks;
      if (first !== undefined && checks.length === 1) return [await decide(first)];
      return Promise.all(checks.map(decide));
    },
    health: link.health,
    async close() {
      for (const lane of lanes.values()) lane.close();
      await link.close();
    },
  };
}

type Codec = ReturnType<typeof createCodec>;

async function sendBatch(link: Link, codec: Codec, checks: readonly Check[]): Promise<Outcome[]> {
  // ioredis would keep a pipeline until a Cluster is there, and charge what was given up long ago.
  const { up, detail } = link.health();
  if (!up) return checks.map(() => failureOf(`Connection is closed: ${detail}`));
  const outcomes =
    link.route === undefined
      ? await sendTogether(link, codec, [checks])
      : await sendBySlot(link.route, link, codec, checks);
  const demoted = outcomes.some(
    (outcome) => outcome.kind === 'failure' && outcome.cause.includes('READONLY'),
  );
  if (demoted) link.demoted();
  return outcomes;
}

/** A call for each group; the outcomes group by group. */
async function sendTogether(
  link: Link,
  codec: Codec,
  groups: readonly (readonly Check[])[],
): Promise<Outcome[]> {
  const replies = await link.run(groups.map((group) => codec.encode(group)));
  return groups.flatMap((group, i) => {
    const result = replies[i];
    if (result !== undefined && 'reply' in result) return codec.decode(group, result.reply);
    return group.map(() => failureOf(result?.error));
  });
}

/** The keys of one call must share a slot. */
async function sendBySlot(
  route: NonNullable<Link['route']>,
  link: Link,
  codec: Codec,
  checks: readonly Check[],
): Promise<Outcome[]> {
  const positions = new Map<number, number[]>();
  for (const [position, check] of checks.entries()) {
    const { group } = route(codec.firstKey(check));
    const members = positions.get(group);
    if (members === undefined) positions.set(group, [position]);
    else members.push(position);
  }
  const groups = [...positions.values()].map((members) => members.flatMap((i) => checks[i] ?? []));
  const decided = await sendTogether(link, codec, groups);
  const outcomes: Outcome[] = [];
  for (const [i, position] of [...positions.values()].flat().entries()) {
    outcomes[position] = decided[i] ?? failureOf('no outcome');
  }
  return outcomes;
}

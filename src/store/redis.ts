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
  const only = link.route === undefined ? laneOf('') : undefined;
  const decide = (check: Check): Promise<Outcome> =>
    (only ?? laneOf(link.route?.(codec.firstKey(check)).node ?? '')).decide(check);

  return {
    decide: (checks) => Promise.all(checks.map(decide)),
    health: link.health,
    async close() {
      for (const lane of lanes.values()) lane.close();
      await link.close();
    },
  };
}

type Codec = ReturnType<typeof createCodec>;

async function sendBatch(link: Link, codec: Codec, checks: readonly Check[]): Promise<Outcome[]> {
  const groups = groupBySlot(link, codec, checks);
  const replies = await link.run(
    groups.map((group) => codec.encode(group.map(({ check }) => check))),
  );
  const outcomes: Outcome[] = [];
  for (const [i, group] of groups.entries()) {
    const result = replies[i];
    const decided =
      result !== undefined && 'reply' in result
        ? codec.decode(
            group.map(({ check }) => check),
            result.reply,
          )
        : group.map(() => failureOf(result?.error));
    for (const [j, { position }] of group.entries()) {
      const outcome = decided[j];
      if (outcome !== undefined) outcomes[position] = outcome;
    }
  }
  const demoted = outcomes.some(
    (outcome) => outcome.kind === 'failure' && outcome.cause.includes('READONLY'),
  );
  if (demoted) link.demoted();
  return outcomes;
}

interface Placed {
  check: Check;
  position: number;
}

/** The checks that may share a call, each with its place in the batch. */
function groupBySlot(link: Link, codec: Codec, checks: readonly Check[]): Placed[][] {
  const placed = checks.map((check, position) => ({ check, position }));
  if (link.route === undefined) return [placed];
  const groups = new Map<number, Placed[]>();
  for (const item of placed) {
    const { group } = link.route(codec.firstKey(item.check));
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [item]);
    else members.push(item);
  }
  return [...groups.values()];
}

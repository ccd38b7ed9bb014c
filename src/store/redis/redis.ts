import type { RedisSettings } from '../../config/settings.js';
import type { Check } from '../../domain.js';
import { type Health, NO_OUTCOME, type Outcome, type Store } from '../store.js';
import { createClusterLink } from './cluster-link.js';
import { failureOf } from './failure.js';
import { createLane, type Lane } from './lane.js';
import { createSingleLink } from './link.js';
import { type CodecOptions, createCodec, loadScript, type Script } from './script.js';
import type { Addressed } from './state-key.js';

export interface RedisStoreOptions {
  settings: RedisSettings;
  /** The service's clock, which only picks the calendar windows that the store's clock chooses from. */
  clock: CodecOptions['now'];
  onHealth?: (health: Health) => void;
  /** Whether Redis's own clock decides. If not, `clock` does: for tests, and for a Redis whose scripts may not read theirs. */
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
  const { slots } = link;

  /** One call of the script; all state keys must be in one slot. Never rejects. */
  const call = async (batch: readonly Addressed[], node: string): Promise<Outcome[]> => {
    let outcomes: Outcome[];
    try {
      outcomes = codec.decode(batch, await link.run(codec.encode(batch), node));
    } catch (error) {
      const failure = failureOf(error);
      outcomes = batch.map(() => failure);
    }
    const failures = outcomes.filter((outcome) => outcome.kind === 'failure');
    if (failures.length > 0) {
      for (const cause of new Set(failures.map(({ cause }) => cause))) link.failed(cause);
    }
    return outcomes;
  };

  const send = (batch: readonly Addressed[], node: string): Promise<Outcome[]> => {
    // ioredis would keep a call until a Cluster is there, and charge what was given up long ago.
    if (!link.isUp()) {
      const closed = failureOf(`Connection is closed: ${link.health().detail}`);
      return Promise.resolve(batch.map(() => closed));
    }
    return batch.length === 1 || slots === undefined
      ? call(batch, node)
      : slots.together(node, () => callBySlot(batch, (part) => call(part, node)));
  };

  const lanes = new Map<string, Lane>();
  const laneOf = (node: string): Lane => {
    let lane = lanes.get(node);
    if (lane === undefined) {
      lane = createLane({ send: (batch) => send(batch, node), timeoutMs: settings.timeoutMs });
      lanes.set(node, lane);
    }
    return lane;
  };
  const decide = (check: Check): Promise<Outcome> => {
    const stem = codec.stemOf(check);
    // The braces are closed in it, so its slot is that of all the keys.
    const slot = slots?.of(stem) ?? 0;
    return laneOf(slots?.nodeOf(slot) ?? '').decide({ check, stem, slot });
  };

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

/** Splits a batch by slot, since the keys of one call must share one; the outcomes in the batch's order. */
async function callBySlot(
  batch: readonly Addressed[],
  call: (part: readonly Addressed[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const parts = new Map<number, Addressed[]>();
  for (const addressed of batch) {
    const part = parts.get(addressed.slot);
    if (part === undefined) parts.set(addressed.slot, [addressed]);
    else part.push(addressed);
  }
  const outcomes = new Map<Addressed, Outcome>();
  await Promise.all(
    [...parts.values()].map(async (part) => {
      for (const [i, outcome] of (await call(part)).entries()) {
        const addressed = part[i];
        if (addressed !== undefined) outcomes.set(addressed, outcome);
      }
    }),
  );
  return batch.map((addressed) => outcomes.get(addressed) ?? NO_OUTCOME);
}

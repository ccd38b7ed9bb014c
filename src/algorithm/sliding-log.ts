import { z } from 'zod';
import type { Algorithm, Verdict } from './algorithm.js';
import { durationOr } from './windows/duration.js';

/** About 120 bytes of Redis an entry make some 12 MB of a full key at this quota. */
const MAX_QUOTA = 100_000;

/** Redis takes 2 to 5 microseconds to remember a unit; this bounds what one check can take of it. */
const MAX_COST = 2_000;

const schema = z.strictObject({
  quota: z
    .int()
    .min(0)
    .max(MAX_QUOTA, {
      error: `wanted at most ${MAX_QUOTA}: a sliding-log remembers every unit (about 120 bytes each); use fixed-period for larger quotas`,
    }),
  period: durationOr(),
});

type Spec = z.output<typeof schema>;
/**
 * What was charged, entry by entry in order of time: when, and how many units up to and with it. So
 * many units at once are one entry here; in Redis each is a member.
 */
interface State {
  times: number[];
  totals: number[];
  /** Entries before this one are over and wait to be dropped. */
  start: number;
  /** Units up to this total are forgotten, although their entry may be live. */
  floor: number;
}

const NOTHING: State = { times: [], totals: [], start: 0, floor: 0 };

/**
 * At most `quota` units in any stretch of time as long as `period`: exact, and as large as its
 * quota. An entry counts while `entry > now - period`.
 */
export const slidingLog: Algorithm<Spec, Spec, State> = {
  name: 'sliding-log',
  maxCost: MAX_COST,
  usesId: true,
  schema,
  // Entries are bare instants, readable under any quota and period.
  stateTag: () => '',
  constantPeriod: ({ period }) => period,
  numbers: (spec) => () => spec,

  time: (state) => state.times[state.times.length - 1] ?? 0,
  isOver: (state, { period }, now) => slidingLog.time(state) <= now - period,

  ask(state = NOTHING, { quota, period }, cost, now): Verdict {
    const start = firstAbove(state.times, now - period, state.start);
    const before = totalBefore(state, start);
    const used = (state.totals[state.totals.length - 1] ?? 0) - before;
    const free = Math.max(0, quota - used);
    const resetAfter = used > 0 ? slidingLog.time(state) + period - now : 0;
    if (cost > quota) return { kind: 'never', remaining: free, resetAfter };
    if (cost <= free) {
      const after = cost > 0 ? period : resetAfter;
      return { kind: 'allow', remaining: free - cost, resetAfter: after };
    }
    // So many of the oldest have to leave; the last of them decides.
    const leaving = used + cost - quota;
    const last = state.times[firstAbove(state.totals, before + leaving - 1, start)] ?? now;
    return { kind: 'wait', remaining: free, resetAfter, retryAfter: last + period - now };
  },

  charge(state, { quota, period }, cost, now): State {
    const kept = state ?? { times: [], totals: [], start: 0, floor: 0 };
    const { times, totals } = kept;
    kept.start = firstAbove(times, now - period, kept.start);
    const total = (totals[totals.length - 1] ?? 0) + Math.min(cost, quota);
    if (times[times.length - 1] === now) totals[totals.length - 1] = total;
    else {
      times.push(now);
      totals.push(total);
    }
    // A denied attempt can be larger than what is free; older units than the newest `quota` never matter.
    if (total - totalBefore(kept, kept.start) > quota) {
      kept.floor = total - quota;
      kept.start = firstAbove(totals, kept.floor, kept.start);
    }
    if (kept.start > 32 && kept.start * 2 > times.length) {
      kept.floor = totalBefore(kept, kept.start);
      times.splice(0, kept.start);
      totals.splice(0, kept.start);
      kept.start = 0;
    }
    return kept;
  },
};

/** The units that are over or forgotten. */
function totalBefore({ totals, floor }: State, start: number): number {
  return Math.max(totals[start - 1] ?? 0, floor);
}

/** The index of the first of ascending `values` above `bound`, from `from` on, by halving. */
function firstAbove(values: readonly number[], bound: number, from: number): number {
  let [low, high] = [from, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

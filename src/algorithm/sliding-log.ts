import { z } from 'zod';
import type { Algorithm, Verdict } from './algorithm.js';
import { durationOr } from './duration.js';

/** About 120 bytes of Redis an entry make some 12 MB of a full key at this quota. */
const MAX_QUOTA = 100_000;

/** Redis takes about 2 microseconds to remember a unit; this bounds what one check can take of it. */
const MAX_COST = 10_000;

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
/** The instants of the units charged, ascending; those before `start` are over and wait to be dropped. */
interface State {
  times: number[];
  start: number;
}

/**
 * At most `quota` units in any stretch of time as long as `period`: exact, and as large as its
 * quota. An entry counts while `entry > now - period`.
 */
export const slidingLog: Algorithm<Spec, Spec, State> = {
  name: 'sliding-log',
  maxCost: MAX_COST,
  schema,
  // Entries are bare instants, readable under any quota and period.
  stateTag: () => '',
  constantPeriod: ({ period }) => period,
  numbers: (spec) => () => spec,

  time: (state) => state.times[state.times.length - 1] ?? 0,
  isOver: (state, { period }, now) => slidingLog.time(state) <= now - period,

  ask(state, { quota, period }, cost, now): Verdict {
    const times = state?.times ?? [];
    const start = state === undefined ? 0 : firstLive(state, now - period);
    const used = times.length - start;
    const free = Math.max(0, quota - used);
    const newest = times[times.length - 1];
    const resetAfter = used > 0 && newest !== undefined ? newest + period - now : 0;
    if (cost > quota) return { kind: 'never', remaining: free, resetAfter };
    if (cost <= free) {
      return {
        kind: 'allow',
        remaining: free - cost,
        resetAfter: cost > 0 ? period : resetAfter,
      };
    }
    // So many of the oldest have to leave; the last of them decides.
    const leaving = used + cost - quota;
    const last = times[start + leaving - 1] ?? now;
    return { kind: 'wait', remaining: free, resetAfter, retryAfter: last + period - now };
  },

  charge(state, { quota, period }, cost, now): State {
    const kept = state ?? { times: [], start: 0 };
    kept.start = firstLive(kept, now - period);
    for (let unit = Math.min(cost, quota); unit > 0; unit--) kept.times.push(now);
    // A denied attempt can be larger than what is free; older entries than the newest `quota` never matter.
    kept.start = Math.max(kept.start, kept.times.length - quota);
    if (kept.start > 32 && kept.start * 2 > kept.times.length) {
      kept.times.splice(0, kept.start);
      kept.start = 0;
    }
    return kept;
  },
};

/** Index of the first entry later than `cutoff`, by halving. */
function firstLive({ times, start }: State, cutoff: number): number {
  let [low, high] = [start, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) > cutoff) high = middle;
    else low = middle + 1;
  }
  return low;
}

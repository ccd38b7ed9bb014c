import type { Decision } from '../domain.js';
import type { Entries } from './entries.js';
import { countAt, createTimeline, type Timeline } from './timeline.js';

/** What one Policy would have answered. */
export interface Report {
  checks: number;
  allowed: number;
  denied: number;
  keys: number;
  keysDenied: number;
  codes: Record<Decision['code'], number>;
  /** The most denied first; of equals, by key. */
  topDenied: { key: string; denied: number }[];
  timeline: Timeline;
}

export interface Tally {
  /** `place` is that of the key in `Entries.keys`. */
  count(time: number, place: number, code: Decision['code']): void;
  report(top: number): Report;
}

export function createTally({ keys, first, last }: Entries): Tally {
  const codes = { ALLOWED: 0, HIT_QUOTA: 0, OVER_QUOTA: 0 };
  const deniedOf = new Uint32Array(keys.length);
  const timeline = createTimeline(first, last);

  return {
    count(time, place, code) {
      const isDenied = code === 'OVER_QUOTA';
      codes[code]++;
      countAt(timeline, isDenied ? 'denied' : 'allowed', time);
      if (isDenied) deniedOf[place] = (deniedOf[place] ?? 0) + 1;
    },
    report(top) {
      const deniedKeys = keys
        .map((key, place) => ({ key, denied: deniedOf[place] ?? 0 }))
        .filter(({ denied }) => denied > 0)
        .sort((a, b) => b.denied - a.denied || (a.key < b.key ? -1 : 1));
      const allowed = codes.ALLOWED + codes.HIT_QUOTA;
      return {
        checks: allowed + codes.OVER_QUOTA,
        allowed,
        denied: codes.OVER_QUOTA,
        keys: keys.length,
        keysDenied: deniedKeys.length,
        codes,
        topDenied: deniedKeys.slice(0, top),
        timeline,
      };
    },
  };
}

import type { Decision } from '../domain.js';
import type { Entries } from './entries.js';
import { countAt, createTimeline, type Timeline } from './timeline.js';

/** What one Policy would have decided on a log. */
export interface Report {
  checks: number;
  allowed: number;
  denied: number;
  keys: number;
  keysDenied: number;
  codes: Record<Decision['code'], number>;
  /** The ten keys that were denied most often, in descending order. Ties are in order of the key. */
  topDenied: { key: string; denied: number }[];
  timeline: Timeline;
}

const MAX_TOP_DENIED = 10;

export interface Tally {
  /** Counts one decision. `keyIndex` is an index into `Entries.keys`. */
  count(time: number, keyIndex: number, code: Decision['code']): void;
  report(): Report;
}

export function createTally({ keys, first, last }: Entries): Tally {
  const codes = { ALLOWED: 0, HIT_QUOTA: 0, OVER_QUOTA: 0 };
  const deniedCounts = new Uint32Array(keys.length);
  const timeline = createTimeline(first, last);

  return {
    count(time, keyIndex, code) {
      const isDenied = code === 'OVER_QUOTA';
      codes[code]++;
      countAt(timeline, isDenied ? 'denied' : 'allowed', time);
      if (isDenied) deniedCounts[keyIndex] = (deniedCounts[keyIndex] ?? 0) + 1;
    },
    report() {
      const deniedKeys = keys
        .map((key, i) => ({ key, denied: deniedCounts[i] ?? 0 }))
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
        topDenied: deniedKeys.slice(0, MAX_TOP_DENIED),
        timeline,
      };
    },
  };
}

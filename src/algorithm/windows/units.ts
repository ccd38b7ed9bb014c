/** Microseconds in each unit of a duration. */
export const MICROSECONDS = {
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
} as const;

/** A day for `zone.ts` and `calendar.ts`, which use milliseconds because Intl and Date do. */
export const DAY_MS = MICROSECONDS.d / MICROSECONDS.ms;

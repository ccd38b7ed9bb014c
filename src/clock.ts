/** The time in integer microseconds since 1970. */
export type Clock = () => number;

/**
 * The machine's wall clock at microsecond resolution. Date.now() has whole milliseconds only, and
 * performance.now() does not follow when the wall clock is set: so the one counts between the
 * other's readings, and is put right when they are more than 2 ms apart.
 */
export function createSystemClock(): Clock {
  let origin = performance.timeOrigin;
  return () => {
    const elapsed = performance.now();
    const wall = Date.now();
    if (Math.abs(origin + elapsed - wall) > 2) origin = wall - elapsed;
    return Math.floor((origin + elapsed) * 1000);
  };
}

/** A clock that stands where it is put; microseconds. */
export interface TestClock {
  now(): number;
  set(time: number): void;
  /** Backwards as well. */
  advance(time: number): void;
}

/** Any instant at which nothing happens in any calendar. */
const START = '2026-06-03T10:20:30Z';

export function createTestClock(start = microseconds(START)): TestClock {
  let time = start;
  return {
    now: () => time,
    set(next) {
      time = next;
    },
    advance(step) {
      time += step;
    },
  };
}

/** The instant of an ISO text. */
export function microseconds(iso: string): number {
  return Date.parse(iso) * 1000;
}

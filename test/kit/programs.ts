import fc from 'fast-check';
import type { Policy } from '../../src/domain.js';
import { microseconds, type TestClock } from './clock.js';
import { policyOf } from './policies.js';

/** Random programs: what callers might ask in what order, and when, by a clock that may go back. */
export interface Program {
  limits: readonly string[];
  /** Microseconds. */
  start: number;
  steps: readonly Step[];
}

export interface Step {
  /** Microseconds since the step before; negative where the clock goes back. */
  wait: number;
  /** Asked at the same instant, in this order. */
  checks: readonly { key: string; cost: number; id: string }[];
}

const SECOND = 1_000_000;

/** Zones with the instants at which strange things happen to their clocks. */
const TURNS = [
  ['UTC', '2026-12-31T23:59:58Z'],
  ['UTC', '2024-02-29T23:59:58Z'],
  ['+05:30', '2026-05-31T18:29:58Z'],
  ['Europe/Madrid', '2026-03-29T00:59:58Z'],
  ['Europe/Madrid', '2026-10-25T00:59:58Z'],
  ['Africa/Cairo', '2026-04-23T21:59:58Z'],
  ['Africa/Cairo', '2026-10-29T20:59:58Z'],
  ['America/Havana', '2026-11-01T03:59:58Z'],
  ['America/Havana', '2026-11-01T04:59:58Z'],
  ['America/St_Johns', '2010-11-07T02:29:58Z'],
  ['America/St_Johns', '2010-11-07T02:30:58Z'],
  ['Australia/Lord_Howe', '2026-04-04T14:59:58Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:29:58Z'],
  ['Antarctica/Troll', '2026-03-29T00:59:58Z'],
  ['Pacific/Apia', '2011-12-30T09:59:58Z'],
] as const;

const DURATIONS = [
  '1ms',
  '7ms',
  '500ms',
  '1s',
  '1500ms',
  '10s',
  '1m',
  '30m',
  '1h',
  '6h',
  '1d',
  '7d',
];
const CALENDAR = ['day', 'week', 'month', 'year'];

const quota = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 7, max: 60 }));
const countDenied = fc.oneof(
  { weight: 3, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

const limit = (timezone: string) =>
  fc.oneof(
    fc.record({
      algorithm: fc.constant('sliding-log'),
      quota,
      period: fc.constantFrom(...DURATIONS),
      countDenied,
    }),
    fc.record({
      algorithm: fc.constant('fixed-period'),
      quota,
      period: fc.constantFrom(...DURATIONS),
      countDenied,
    }),
    fc.record({
      algorithm: fc.constant('fixed-period'),
      quota,
      period: fc.constantFrom(...DURATIONS),
      align: fc.constant('clock'),
      timezone: fc.constant(timezone),
      countDenied,
    }),
    fc.record({
      algorithm: fc.constant('fixed-period'),
      quota,
      period: fc.constantFrom(...CALENDAR),
      timezone: fc.constant(timezone),
      countDenied,
    }),
  );

const wait = fc.oneof(
  fc.constant(0),
  fc.constantFrom(1, 999, 1_000, 7_000, 500_000, SECOND, 1_500_000, 2 * SECOND),
  fc.integer({ min: 0, max: 3 * SECOND }),
  fc.integer({ min: -20 * SECOND, max: 0 }),
  // To the end of a period that began a moment ago, or just before.
  fc
    .tuple(fc.constantFrom(1, 10, 60, 1800, 3600, 21_600, 86_400), fc.integer({ min: -1, max: 1 }))
    .map(([seconds, more]) => seconds * SECOND + more),
);

const cost = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 3, arbitrary: fc.integer({ min: 2, max: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(50, 1000, Number.MAX_SAFE_INTEGER) },
);

/** A caller may use one id again and again, and Sluice's own names for units may look like it. */
const id = fc.oneof(fc.constantFrom('A', 'A:2', 'B'), fc.ulid());

const check = fc.record({ key: fc.constantFrom('a', 'b', 'c'), cost, id });

const step: fc.Arbitrary<Step> = fc.record({
  wait,
  checks: fc.array(check, { minLength: 1, maxLength: 5 }),
});

export function programs(steps: number): fc.Arbitrary<Program> {
  return fc.constantFrom(...TURNS).chain(([timezone, start]) =>
    fc.record({
      limits: fc
        .array(limit(timezone), { minLength: 1, maxLength: 3 })
        .map((limits) => limits.map((one, i) => JSON.stringify({ name: `l${i}`, ...one }))),
      start: fc.constant(microseconds(start)),
      steps: fc.array(step, { minLength: 1, maxLength: steps }),
    }),
  );
}

/** Goes through a program: sets the clock for each step and gives the checks that it asks. */
export function* play<T>(
  { start, steps }: { start: number; steps: readonly { wait: number; checks: T }[] },
  clock: TestClock,
): Generator<T> {
  clock.set(start);
  for (const { wait, checks } of steps) {
    clock.advance(wait);
    yield checks;
  }
}

/** A policy of its own for each run of a program, so that runs do not meet. */
export function policyOfRun({ limits }: Program, run: number): Policy {
  return policyOf(`run-${run}`, ...limits);
}

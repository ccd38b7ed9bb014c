import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf, decide } from '../kit/checks.js';
import { createTestClock } from '../kit/clock.js';
import { createUnsweptMemoryStore } from '../kit/memory.js';
import { policyOf } from '../kit/policies.js';
import { createOracle, type Decider } from './oracle.js';

const PROGRAMS = 500;

const durations = ['1ms', '500ms', '1500ms', '10s', '1m', '45m', '1h', '5h', '1d', '7d'];
const period = fc.constantFrom(...durations);
const quota = fc.integer({ min: 0, max: 12 });
/** Zones whose dates never go back: what the wall says names a window. */
const timezone = fc.constantFrom('UTC', 'Africa/Cairo', 'Asia/Kathmandu', 'Pacific/Apia');

const decider: fc.Arbitrary<Decider> = fc.oneof(
  fc.record({ algorithm: fc.constant('sliding-log'), quota, period }),
  fc.record({ algorithm: fc.constant('fixed-period'), quota, period }),
  fc.record({ algorithm: fc.constant('fixed-period'), quota, period, align: fc.constant('clock') }),
  fc.record({
    algorithm: fc.constant('fixed-period'),
    quota,
    period,
    align: fc.constant('clock'),
    timezone: fc.constantFrom('UTC', 'Asia/Kathmandu'),
  }),
  fc.record({
    algorithm: fc.constant('fixed-period'),
    quota,
    period: fc.constantFrom('day', 'week', 'month', 'year'),
    timezone,
  }),
);

const wait = fc.oneof(
  fc.constantFrom(0, 1, 999, 1_000, 500_000, 999_999, 1_000_000, 10_000_000),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 0, max: 20_000_000 }),
  fc.integer({ min: 0, max: 3 * 86_400_000_000 }),
  fc.integer({ min: -20_000_000, max: 0 }),
);
const start = fc.constantFrom(
  '2026-04-23T21:59:50Z',
  '2011-12-30T09:59:00Z',
  '2026-12-31T23:59:58Z',
);
const asked = fc.record({ wait, cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 14 })) });

test('the store lets pass what a list of all grants lets pass, and nothing else', async () => {
  let runs = 0;
  const program = fc.record({
    rules: fc.array(decider, { minLength: 1, maxLength: 2 }),
    start,
    checks: fc.array(asked, { minLength: 1, maxLength: 60 }),
  });
  const run = fc.asyncProperty(program, async ({ rules, start: begin, checks }) => {
    const limits = rules.map((one, i) => JSON.stringify({ name: `l${i}`, ...one }));
    const policy = policyOf(`run-${++runs}`, ...limits);
    const clock = createTestClock(Date.parse(begin) * 1000);
    const store = createUnsweptMemoryStore(clock.now);
    const oracle = createOracle(rules);
    const [seen, right]: [boolean[], boolean[]] = [[], []];
    for (const { wait: more, cost } of checks) {
      clock.advance(more);
      seen.push((await decide(store, checkOf(policy, { cost }))).code !== 'OVER_QUOTA');
      right.push(oracle.allows(clock.now(), cost));
    }
    expect(seen).toEqual(right);
    await store.close();
  });
  await fc.assert(run, { numRuns: PROGRAMS });
});

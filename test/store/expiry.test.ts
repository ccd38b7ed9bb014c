import { afterAll, describe, expect, test } from 'vitest';
import type { Policy } from '../../src/domain.js';
import { checkOf, decide, type Given } from '../kit/checks.js';
import { createTestClock, microseconds } from '../kit/clock.js';
import { policyOf } from '../kit/policies.js';
import type { RedisView } from '../kit/redis-view.js';
import { type Backend, createBackend } from '../kit/stores.js';
import { eachAlgorithm, fixedPeriod, SECOND, slidingLog } from './conformance/case.js';

/**
 * State keys go by themselves, and not before their state has lost its meaning. Expiry is the
 * server's affair and runs in real time, so the tests look at how long a key has, without grace.
 */
describe.each(['redis', 'cluster'] as const)('state keys in a store of kind %s', (kind) => {
  const backends: Backend[] = [];
  afterAll(() => Promise.all(backends.map((backend) => backend.close())));

  async function open(graceMs = 0) {
    const backend = createBackend(kind);
    backends.push(backend);
    const clock = createTestClock();
    const store = await backend.open(clock.now, { graceMs });
    const { view } = backend;
    if (view === undefined) throw new Error('there is a Redis to look at');
    const ask = async (policy: Policy, given: Given = {}) =>
      (await decide(store, checkOf(policy, given))).strictest;
    return { clock, view, ask, ttlMs: async () => view.ttlMs(await view.onlyKey()) };
  }

  test('live as long as their state matters, from the first write on and after the second', async () => {
    for (const [, policy] of eachAlgorithm(10, '60s')) {
      const { ask, clock, ttlMs } = await open();
      const first = await ask(policy);
      expect(first.resetAfter).toBe(60 * SECOND);
      expectAbout(await ttlMs(), 60_000);
      clock.advance(20 * SECOND);
      const { resetAfter } = await ask(policy);
      expect(await ttlMs()).toBeGreaterThan(resetAfter / 1000 - SLACK_MS);
    }
  });

  test('C015 are not given more time by a check in a period that runs', async () => {
    const { ask, ttlMs } = await open();
    const policy = policyOf('p', fixedPeriod(3, '60s'));
    await ask(policy);
    const before = await ttlMs();
    await ask(policy);
    expect(await ttlMs()).toBeLessThanOrEqual(before);
  });

  test('C042 get a time to live although the first cost is 5', async () => {
    const { ask, ttlMs } = await open();
    await ask(policyOf('p', fixedPeriod(20, '60s')), { cost: 5 });
    expectAbout(await ttlMs(), 60_000);
  });

  test('C060 of a month live for the month', async () => {
    const { ask, clock, ttlMs } = await open();
    clock.set(microseconds('2027-01-01T00:00:00Z'));
    await ask(policyOf('p', fixedPeriod(2, 'month')));
    expectAbout(await ttlMs(), 2_678_400_000);
  });

  test('C032 of a minute are gone before the same minute of the next day', async () => {
    const { ask, clock, ttlMs } = await open();
    clock.set(microseconds('2027-01-15T12:34:10Z'));
    await ask(policyOf('p', fixedPeriod(3, '1m', 'align: clock')));
    expectAbout(await ttlMs(), 50_000);
  });

  test('live a millisecond at least, and a fraction of one is rounded up', async () => {
    const { ask, clock, view } = await open(60_000);
    const [period, log] = eachAlgorithm(5, '10ms');
    if (period === undefined || log === undefined) throw new Error('two algorithms');
    await ask(period[1]);
    clock.advance(9_999);
    await ask(period[1]);
    await ask(log[1]);
    for (const key of await view.keys()) expectAbout(await view.ttlMs(key), 60_010);
  });

  test('of a log last until its youngest unit leaves, also after a step back of the clock', async () => {
    const { ask, clock, ttlMs } = await open();
    const policy = policyOf('p', slidingLog(10, '60s'));
    await ask(policy);
    clock.advance(-20 * SECOND);
    expect((await ask(policy)).resetAfter).toBe(80 * SECOND);
    expectAbout(await ttlMs(), 80_000);
  });

  test('outlive their meaning by the grace that was asked for', async () => {
    for (const [, policy] of eachAlgorithm(10, '60s')) {
      const { ask, ttlMs } = await open(5_000);
      await ask(policy);
      expectAbout(await ttlMs(), 65_000);
    }
  });

  test('C084 of ten years, the longest period there is, live for ten years', async () => {
    for (const [, policy] of eachAlgorithm(1, '3650d')) {
      const { ask, ttlMs } = await open();
      expect((await ask(policy)).allowed).toBe(true);
      expect((await ask(policy)).allowed).toBe(false);
      expectAbout(await ttlMs(), 3650 * 86_400_000);
    }
  });

  test('C047 have a time to live, all of them, whatever was asked', async () => {
    const { ask, clock, view } = await open(60_000);
    const limits = [
      fixedPeriod(3, '10s', 'name: a'),
      fixedPeriod(4, '1h', 'name: b, align: clock, countDenied: true'),
      fixedPeriod(4, 'week', 'name: c, timezone: Asia/Kathmandu'),
      slidingLog(3, '7s', 'name: d, countDenied: true'),
      slidingLog(4, '1ms', 'name: e'),
    ];
    for (let i = 0; i < 300; i++) {
      const some = limits.filter((_, n) => (i >> n) % 2 === 0);
      const policy = policyOf(`p${i % 32}`, ...(some.length > 0 ? some : limits));
      await ask(policy, { key: `k${i % 7}`, cost: i % 5 });
      clock.advance((i % 3 === 0 ? -1 : 1) * (i % 11) * SECOND);
    }
    expect(await withoutTtl(view)).toEqual([]);
  });
});

/** Less than that passes, on a busy machine, between a write and the look at it. */
const SLACK_MS = 5_000;

function expectAbout(ttlMs: number, expectedMs: number): void {
  expect(ttlMs).toBeLessThanOrEqual(expectedMs);
  expect(ttlMs).toBeGreaterThan(expectedMs - SLACK_MS);
}

async function withoutTtl(view: RedisView): Promise<string[]> {
  const keys = await view.keys();
  expect(keys.length).toBeGreaterThan(100);
  const ttls = await Promise.all(keys.map((key) => view.ttlMs(key)));
  return keys.filter((_, i) => (ttls[i] ?? -1) < 0);
}

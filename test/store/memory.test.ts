import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMemoryStore, type MemoryStore } from '../../src/store/memory/memory.js';
import { checkOf, decide } from '../kit/checks.js';
import { createTestClock, type TestClock } from '../kit/clock.js';
import { policyOf } from '../kit/policies.js';
import { fixedPeriod, SECOND, slidingLog } from './conformance/case.js';

let clock: TestClock;
let store: MemoryStore;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  clock = createTestClock();
});
afterEach(async () => {
  await store.close();
  vi.useRealTimers();
});

function open(maxKeys: number): void {
  store = createMemoryStore({ clock: clock.now, maxKeys });
}

async function ask(policy: ReturnType<typeof policyOf>, key: string): Promise<string> {
  const { code, strictest } = await decide(store, checkOf(policy, { key }));
  return `${code} ${strictest.remaining}`;
}

describe('a full memory store', () => {
  test('C129 does not forget an exhausted key for a flood of new ones, and counts what it forgets', async () => {
    open(1000);
    const policy = policyOf('p', fixedPeriod(5, '600s'));
    for (let i = 0; i < 5; i++) await ask(policy, 'victim');
    expect(await ask(policy, 'victim')).toBe('OVER_QUOTA 0');
    for (let i = 0; i < 2000; i++) expect(await ask(policy, `other ${i}`)).toBe('ALLOWED 4');
    expect(await ask(policy, 'victim')).toBe('OVER_QUOTA 0');
    expect(store.keys()).toBe(1000);
    expect(store.evictions()).toBe(1001);
  });

  test('C129 forgets the key that has most of its quota left, not the oldest', async () => {
    open(2);
    const policy = policyOf('p', fixedPeriod(5, '600s'));
    for (let i = 0; i < 3; i++) await ask(policy, 'old and busy');
    await ask(policy, 'young and idle');
    await ask(policy, 'new');
    expect(await ask(policy, 'old and busy')).toBe('ALLOWED 1');
    expect(store.evictions()).toBe(1);
  });

  test('forgets dead keys first, which is no eviction', async () => {
    open(10);
    const policy = policyOf('p', slidingLog(5, '10s'));
    for (let i = 0; i < 10; i++) await ask(policy, `dead ${i}`);
    clock.advance(10 * SECOND);
    for (let i = 0; i < 10; i++) expect(await ask(policy, `new ${i}`)).toBe('ALLOWED 4');
    expect([store.keys(), store.evictions()]).toEqual([10, 0]);
  });

  test('C130 never holds more keys than it may', async () => {
    open(2);
    const policy = policyOf('p', fixedPeriod(1, '600s'));
    for (const key of ['a', 'b', 'c', 'd', '0', 'false', '__proto__', ' ']) {
      expect(await ask(policy, key)).toBe('HIT_QUOTA 0');
      expect(store.keys()).toBeLessThanOrEqual(2);
    }
  });

  test('C131 goes on deciding, whatever the order of its keys', async () => {
    open(2);
    const policy = policyOf('p', fixedPeriod(5, '600s'));
    for (const key of ['a', 'a', 'b', 'c', 'a', 'c', 'b']) {
      expect(await ask(policy, key)).toMatch(/^ALLOWED/);
      expect(store.keys()).toBeLessThanOrEqual(2);
    }
  });

  test('counts a key for each limit of a policy', async () => {
    open(100);
    const policy = policyOf('p', fixedPeriod(5, '10s', 'name: a'), slidingLog(5, '10s', 'name: b'));
    await ask(policy, 'k');
    expect(store.keys()).toBe(2);
    expect(store.health()).toEqual({ up: true, detail: 'in memory, 2 of at most 100 keys' });
  });
});

describe('the sweep', () => {
  test('takes away what is dead and leaves what lives', async () => {
    open(1000);
    const short = policyOf('short', fixedPeriod(5, '1s'));
    const long = policyOf('long', slidingLog(5, '60s'));
    for (let i = 0; i < 20; i++) await ask(short, `${i}`);
    for (let i = 0; i < 5; i++) await ask(long, `${i}`);
    vi.advanceTimersByTime(1000);
    expect(store.keys()).toBe(25);
    clock.advance(SECOND);
    vi.advanceTimersByTime(2000);
    expect(store.keys()).toBe(5);
    expect(await ask(long, '0')).toBe('ALLOWED 3');
    clock.advance(60 * SECOND);
    vi.advanceTimersByTime(2000);
    expect([store.keys(), store.evictions()]).toEqual([0, 0]);
  });

  test('gets through many keys in a few rounds', async () => {
    open(100_000);
    const policy = policyOf('p', fixedPeriod(5, '1s'));
    const checks = Array.from({ length: 25_000 }, (_, i) => checkOf(policy, { key: `${i}` }));
    await store.decide(checks);
    clock.advance(SECOND);
    vi.advanceTimersByTime(1000);
    expect(store.keys()).toBe(15_000);
    vi.advanceTimersByTime(3000);
    expect(store.keys()).toBe(0);
  });

  test('ends with the store', async () => {
    open(10);
    expect(vi.getTimerCount()).toBe(1);
    await store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

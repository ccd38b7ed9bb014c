import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLane, type Lane } from '../../src/store/redis/lane.js';
import type { Addressed } from '../../src/store/redis/state-key.js';
import type { Outcome } from '../../src/store/store.js';
import { checkOf } from '../kit/checks.js';
import { policyOf } from '../kit/policies.js';
import { fixedPeriod, slidingLog } from './conformance/case.js';

const TIMEOUT_MS = 50;
const policy = policyOf('p', fixedPeriod(5, '1s'));
const log = policyOf('log', slidingLog(100_000, '1s'));

/** A batch on its way, which arrives when the test says so. */
interface Batch {
  keys: string[];
  /** Answers each check with an outcome that names its key. */
  arrive(): Promise<void>;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function openLane(): { lane: Lane; batches: Batch[] } {
  const batches: Batch[] = [];
  const send = (batch: readonly Addressed[]): Promise<Outcome[]> =>
    new Promise((resolve) => {
      const keys = batch.map(({ stem }) => stem);
      const arrive = async (): Promise<void> => {
        resolve(keys.map((key) => ({ kind: 'failure', reason: 'unexpected', cause: key })));
        await settle();
      };
      batches.push({ keys, arrive });
    });
  return { lane: createLane({ send, timeoutMs: TIMEOUT_MS }), batches };
}

/** Lets everything happen that waits for nothing but a promise. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

/** Asks, and keeps what is answered, which is the key, or why there is no answer. */
function asker(lane: Lane) {
  const answers = new Map<string, string>();
  const ask = (key: string, given: { cost?: number; log?: boolean } = {}): void => {
    const { cost = 1, log: onLog = false } = given;
    const check = checkOf(onLog ? log : policy, { key, cost });
    lane.decide({ check, stem: key, slot: 0 }).then((outcome) => {
      if (outcome.kind !== 'failure') throw new Error('the test answers with failures only');
      answers.set(key, outcome.reason === 'unexpected' ? outcome.cause : outcome.reason);
    });
  };
  return { ask, answers };
}

function keys(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

describe('a check', () => {
  test('leaves at once if nothing is on its way', () => {
    const { lane, batches } = openLane();
    asker(lane).ask('a');
    expect(batches.map((batch) => batch.keys)).toEqual([['a']]);
  });

  test('waits for what is on its way, and leaves with all that came meanwhile', async () => {
    const { lane, batches } = openLane();
    const { ask, answers } = asker(lane);
    for (const key of ['a', 'b', 'c', 'd']) ask(key);
    expect(batches.map((batch) => batch.keys)).toEqual([['a']]);
    await batches[0]?.arrive();
    expect(batches.map((batch) => batch.keys)).toEqual([['a'], ['b', 'c', 'd']]);
    ask('e');
    await batches[1]?.arrive();
    expect(batches[2]?.keys).toEqual(['e']);
    await batches[2]?.arrive();
    expect([...answers]).toEqual(['a', 'b', 'c', 'd', 'e'].map((key) => [key, key]));
    ask('f');
    expect(batches[3]?.keys).toEqual(['f']);
  });

  test('gets the outcome of its own place in the batch', async () => {
    const { lane, batches } = openLane();
    const { ask, answers } = asker(lane);
    for (const key of keys('k', 100)) ask(key);
    for (let i = 0; i < 3; i++) await batches[i]?.arrive();
    for (const key of keys('k', 100)) expect(answers.get(key)).toBe(key);
  });

  test('leaves in a second batch if sixteen wait, but never in a third', async () => {
    const { lane, batches } = openLane();
    const { ask } = asker(lane);
    for (const key of keys('k', 16)) ask(key);
    expect(batches.map((batch) => batch.keys.length)).toEqual([1]);
    ask('k16');
    expect(batches.map((batch) => batch.keys.length)).toEqual([1, 16]);
    for (const key of keys('m', 40)) ask(key);
    expect(batches).toHaveLength(2);
    await batches[1]?.arrive();
    expect(batches.map((batch) => batch.keys.length)).toEqual([1, 16, 40]);
  });
});

describe('a batch', () => {
  test('has 128 checks at most, and the others leave in their order', async () => {
    const { lane, batches } = openLane();
    const { ask } = asker(lane);
    for (const key of keys('k', 300)) ask(key);
    for (let i = 0; i < 5; i++) await batches[i]?.arrive();
    expect(batches.map((batch) => batch.keys.length)).toEqual([1, 16, 128, 128, 27]);
    expect(batches.flatMap((batch) => batch.keys)).toEqual(keys('k', 300));
  });

  test('has few checks if each is much work, but always one', async () => {
    const { lane, batches } = openLane();
    const { ask } = asker(lane);
    ask('first');
    for (const key of keys('k', 5)) ask(key, { cost: 1_600, log: true });
    ask('huge', { cost: 4_000, log: true });
    for (const key of keys('cheap', 3)) ask(key, { cost: 1_000_000 });
    for (let i = 0; i < 6; i++) await batches[i]?.arrive();
    expect(batches.map((batch) => batch.keys)).toEqual([
      ['first'],
      ['k0', 'k1'],
      ['k2', 'k3'],
      ['k4'],
      ['huge'],
      ['cheap0', 'cheap1', 'cheap2'],
    ]);
  });
});

describe('the time-out', () => {
  test('answers what is on its way, and is not sent again', async () => {
    const { lane, batches } = openLane();
    const { ask, answers } = asker(lane);
    ask('a');
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
    expect(answers.size).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect([...answers]).toEqual([['a', 'timeout']]);
    await batches[0]?.arrive();
    expect([...answers]).toEqual([['a', 'timeout']]);
    expect(batches).toHaveLength(1);
  });

  test('answers what waits, which then never leaves', async () => {
    const { lane, batches } = openLane();
    const { ask, answers } = asker(lane);
    ask('a');
    await vi.advanceTimersByTimeAsync(10);
    ask('b');
    await vi.advanceTimersByTimeAsync(30);
    ask('c');
    await vi.advanceTimersByTimeAsync(10);
    expect([...answers]).toEqual([['a', 'timeout']]);
    await vi.advanceTimersByTimeAsync(10);
    expect([...answers]).toEqual([
      ['a', 'timeout'],
      ['b', 'timeout'],
    ]);
    await batches[0]?.arrive();
    expect(batches.map((batch) => batch.keys)).toEqual([['a'], ['c']]);
    await batches[1]?.arrive();
    expect(answers.get('c')).toBe('c');
  });

  test('comes in time for each of many, whenever they came', async () => {
    const { lane } = openLane();
    const { ask, answers } = asker(lane);
    for (let at = 0; at < 200; at += 5) {
      ask(`${at}`);
      await vi.advanceTimersByTimeAsync(5);
      const due = Array.from({ length: 40 }, (_, i) => i * 5).filter(
        (asked) => asked + TIMEOUT_MS <= at + 5,
      );
      expect([...answers.keys()]).toEqual(due.map(String));
    }
  });

  test('does not hold up what comes once the node answers again', async () => {
    const { lane, batches } = openLane();
    const { ask, answers } = asker(lane);
    for (const key of keys('lost', 10)) ask(key);
    await vi.advanceTimersByTimeAsync(10 * TIMEOUT_MS);
    expect([...answers.values()]).toEqual(Array.from({ length: 10 }, () => 'timeout'));
    await batches[0]?.arrive();
    ask('new');
    expect(batches.map((batch) => batch.keys)).toEqual([['lost0'], ['new']]);
    await batches[1]?.arrive();
    expect(answers.get('new')).toBe('new');
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  });
});

test('C116 a lane on which too many wait takes no more, and says so at once', async () => {
  const { lane, batches } = openLane();
  const { ask, answers } = asker(lane);
  // One and sixteen are on their way.
  for (const key of keys('k', 20_017)) ask(key);
  ask('one too many');
  await settle();
  expect([...answers]).toEqual([['one too many', 'overloaded']]);
  await batches[0]?.arrive();
  ask('there is room again');
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect(answers.get('there is room again')).toBe('timeout');
  expect(answers.size).toBe(20_019);
});

test('closing answers all, whether they wait or are on their way', async () => {
  const { lane, batches } = openLane();
  const { ask, answers } = asker(lane);
  for (const key of ['a', 'b', 'c']) ask(key);
  lane.close();
  await settle();
  expect([...answers.values()]).toEqual(['closed', 'closed', 'closed']);
  await batches[0]?.arrive();
  expect(batches).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

import { expect, test } from 'vitest';
import { loadPolicies } from '../../src/policy/file.js';
import { createEntryList } from '../../src/replay/entries.js';
import { type CreateStore, replay } from '../../src/replay/replay.js';
import { createMemoryStore } from '../../src/store/memory/memory.js';
import { tempFile } from '../kit/files.js';

const SECOND = 1_000_000;
const createStore: CreateStore = (clock, maxKeys) => createMemoryStore({ clock, maxKeys });

/** A policy `p` with these Limits, given as YAML fields. */
function policyOf(...limits: string[]) {
  const list = limits.map((limit) => `{ ${limit} }`).join(', ');
  const yaml = `policies: { p: { limits: [ ${list} ] } }`;
  const policy = loadPolicies(tempFile('p.yaml', yaml)).get('p');
  if (policy === undefined) throw new Error('no policy');
  return policy;
}

/** Entries as `[seconds, key]`, in the order of a file. */
function entriesOf(...entries: [number, string][]) {
  const list = createEntryList();
  for (const [seconds, key] of entries) list.add(seconds * SECOND, key);
  return list.sorted();
}

const TWO_A_MINUTE = 'algorithm: sliding-log, quota: 2, period: 60s';

test('each entry is checked at its own time', async () => {
  const entries = entriesOf([100, 'a'], [130, 'a'], [159, 'a'], [160, 'a'], [190, 'a']);
  const report = await replay(policyOf(TWO_A_MINUTE), entries, { createStore });
  expect(report).toMatchObject({ checks: 5, allowed: 4, denied: 1, keys: 1, keysDenied: 1 });
  expect(report.codes).toEqual({ ALLOWED: 1, HIT_QUOTA: 3, OVER_QUOTA: 1 });
  expect(report.topDenied).toEqual([{ key: 'a', denied: 1 }]);
});

test('entries come in order of time, and within a second in the order of the file', () => {
  const times = [50, 10, 30, 10, 50, 20, 10];
  const entries = entriesOf(...times.map((time, i): [number, string] => [time, `line ${i}`]));
  const instants = [...entries.instants()].map(({ time, keys }) => [
    time / SECOND,
    keys.map((index) => entries.keys[index]),
  ]);
  expect(instants).toEqual([
    [10, ['line 1', 'line 3', 'line 6']],
    [20, ['line 5']],
    [30, ['line 2']],
    [50, ['line 0', 'line 4']],
  ]);
  expect(entries).toMatchObject({ count: 7, first: 10 * SECOND, last: 50 * SECOND });
});

test('a log out of order has the same figures as the same log in order', async () => {
  const inOrder = Array.from({ length: 300 }, (_, i): [number, string] => [i, `k${i % 7}`]);
  const shuffled = inOrder.flatMap((_, i) => inOrder.slice((i * 77) % 300, ((i * 77) % 300) + 1));
  const policy = policyOf(TWO_A_MINUTE);
  const report = await replay(policy, entriesOf(...inOrder), { createStore });
  expect(report.denied).toBeGreaterThan(0);
  expect(await replay(policy, entriesOf(...shuffled), { createStore })).toEqual(report);
});

test('an instant of many entries comes in several parts, without a loss', async () => {
  const crowd = Array.from({ length: 2500 }, (_, i): [number, string] => [7, `k${i % 3}`]);
  const entries = entriesOf(...crowd);
  expect([...entries.instants()].map(({ keys }) => keys.length)).toEqual([1000, 1000, 500]);
  const report = await replay(policyOf(TWO_A_MINUTE), entries, { createStore });
  expect(report).toMatchObject({ checks: 2500, allowed: 6, denied: 2494, keys: 3, keysDenied: 3 });
});

test('every policy starts with an empty store that has room for all states', async () => {
  const sizes: number[] = [];
  const evictions: (() => number)[] = [];
  const spy: CreateStore = (clock, maxKeys) => {
    sizes.push(maxKeys);
    const store = createMemoryStore({ clock, maxKeys });
    evictions.push(store.evictions);
    return store;
  };
  const entries = entriesOf([1, 'a'], [1, 'b'], [2, 'c'], [2, 'a']);
  const policy = policyOf(
    `name: x, ${TWO_A_MINUTE}`,
    'algorithm: fixed-period, quota: 1, period: 1h',
  );
  const first = await replay(policy, entries, { createStore: spy });
  expect(await replay(policy, entries, { createStore: spy })).toEqual(first);
  expect(first).toMatchObject({ allowed: 3, denied: 1 });
  expect(sizes).toEqual([6, 6]);
  expect(evictions.map((count) => count())).toEqual([0, 0]);
});

test('the report has the ten keys denied most, ties in order of the key', async () => {
  const keys = [...'lkjihgfedcba', 'a', 'z', 'z', 'z'];
  const entries = entriesOf(...keys.map((key): [number, string] => [1, key]));
  const policy = policyOf('algorithm: fixed-period, quota: 0, period: 1h');
  const report = await replay(policy, entries, { createStore });
  expect(report).toMatchObject({ keys: 13, keysDenied: 13, denied: 16 });
  expect(report.topDenied.map(({ key, denied }) => `${key}${denied}`)).toEqual(
    'z3 a2 b1 c1 d1 e1 f1 g1 h1 i1'.split(' '),
  );
});

test('a log without entries gives a report of zeros', async () => {
  const report = await replay(policyOf(TWO_A_MINUTE), entriesOf(), { createStore });
  expect(report).toMatchObject({ checks: 0, allowed: 0, denied: 0, keys: 0, topDenied: [] });
});

test('a store failure ends the replay and closes the store', async () => {
  let closed = false;
  const broken: CreateStore = () => ({
    decide: async () => [{ kind: 'failure', reason: 'unavailable', cause: 'gone' }],
    health: () => ({ up: false, detail: '' }),
    close: async () => {
      closed = true;
    },
  });
  const replayed = replay(policyOf(TWO_A_MINUTE), entriesOf([1, 'a']), { createStore: broken });
  await expect(replayed).rejects.toThrow('the store failed: gone');
  expect(closed).toBe(true);
});

import { expect, test } from 'vitest';
import { slidingLog } from '../../src/algorithm/sliding-log.js';

const SECOND = 1_000_000;
const numbers = { quota: 5, period: 10 * SECOND };
type State = ReturnType<typeof slidingLog.charge>;

test('C055 holds one live entry after a step back and a period of silence', () => {
  // Whoever calls makes the 90 that the clock shows in between a 100.
  const times = [100, 100, 111].map((at) => at * SECOND);
  const state = times.reduce<State | undefined>(
    (kept, now) => slidingLog.charge(kept, numbers, 1, now),
    undefined,
  );
  expect(state?.times.slice(state.start)).toEqual([111 * SECOND]);
});

test('a log stays small under steady traffic, however long it lasts', () => {
  let state: State | undefined;
  for (let i = 0; i < 10_000; i++) {
    state = slidingLog.charge(state, numbers, 1, i * 2 * SECOND);
    expect(state.times.length).toBeLessThan(80);
  }
});

test('a log stays small under denied attempts that count, however many there are', () => {
  let state: State | undefined;
  for (let i = 0; i < 10_000; i++) {
    state = slidingLog.charge(state, numbers, 5, 1_000 + i);
    expect(state.times.length).toBeLessThan(80);
  }
});

import type { Algorithm, Verdict } from './algorithm.js';

/** The states of one Limit in memory, by the caller's key. Times are microseconds. */
export interface Table {
  has(key: string): boolean;
  ask(key: string, cost: number, now: number): Verdict;
  charge(key: string, cost: number, now: number): void;
  /** Whether the key has no state that matters. */
  isOver(key: string, now: number): boolean;
  delete(key: string): void;
  /** Goes through the keys, one a call, again and again; undefined once at the end of each round. */
  nextKey(): string | undefined;
}

export function createTable<Spec, Numbers, State>(
  algorithm: Algorithm<Spec, Numbers, State>,
  numbersAt: (now: number) => Numbers,
): Table {
  const states = new Map<string, State>();
  let round = states.keys();

  // A clock that has stepped back stands still at the latest instant of the state.
  const settle = (state: State | undefined, now: number): number =>
    state === undefined ? now : Math.max(now, algorithm.time(state));

  // One check asks for one key several times in a row.
  let lastKey: string | undefined;
  let lastState: State | undefined;
  const find = (key: string): State | undefined => {
    if (key !== lastKey) {
      lastKey = key;
      lastState = states.get(key);
    }
    return lastState;
  };

  return {
    has: (key) => find(key) !== undefined,
    ask(key, cost, now) {
      const state = find(key);
      const settled = settle(state, now);
      const verdict = algorithm.ask(state, numbersAt(settled), cost, settled);
      return settled === now ? verdict : delay(verdict, settled - now);
    },
    charge(key, cost, now) {
      const state = find(key);
      const settled = settle(state, now);
      const kept = algorithm.charge(state, numbersAt(settled), cost, settled);
      if (kept === state) return;
      states.set(key, kept);
      lastState = kept;
    },
    isOver(key, now) {
      const state = states.get(key);
      const settled = settle(state, now);
      return state === undefined || algorithm.isOver(state, numbersAt(settled), settled);
    },
    delete(key) {
      states.delete(key);
      if (key === lastKey) lastState = undefined;
    },
    nextKey() {
      const next = round.next();
      if (next.done !== true) return next.value;
      round = states.keys();
      return undefined;
    },
  };
}

/** The waits as seen by a clock that is `lag` behind the state. */
function delay(verdict: Verdict, lag: number): Verdict {
  const resetAfter = verdict.resetAfter === 0 ? 0 : verdict.resetAfter + lag;
  return verdict.kind === 'wait'
    ? { ...verdict, resetAfter, retryAfter: verdict.retryAfter + lag }
    : { ...verdict, resetAfter };
}

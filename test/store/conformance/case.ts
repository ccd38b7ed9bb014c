import type { Check, Decision, Policy } from '../../../src/domain.js';
import type { Store } from '../../../src/store/store.js';
import { checkOf, decide, decideAll, type Given } from '../../kit/checks.js';
import { createTestClock, type TestClock } from '../../kit/clock.js';
import { policyOf } from '../../kit/policies.js';
import type { Backend } from '../../kit/stores.js';

/** One duty of every store. */
export interface Case {
  name: string;
  run(bench: Bench): Promise<void>;
}

/** An empty store to try it on, with a clock that only the case moves. */
export interface Bench {
  backend: Backend;
  store: Store;
  clock: TestClock;
  /** Another store on the same state and clock, as a second process would have. */
  openAnother(): Promise<Store>;
  /** Asks one check; of cost 1, on the key `k`, unless said otherwise. */
  ask(policy: Policy, given?: Given): Promise<Decision>;
  /** Asks all of them at once. */
  askAll(checks: readonly Check[]): Promise<Decision[]>;
}

export async function openBench(backend: Backend): Promise<Bench> {
  const clock = createTestClock();
  const store = await backend.open(clock.now);
  return {
    backend,
    store,
    clock,
    openAnother: () => backend.open(clock.now),
    ask: (policy, given) => decide(store, checkOf(policy, given)),
    askAll: (checks) => decideAll(store, checks),
  };
}

export function fixedPeriod(quota: number, period: string, more = ''): string {
  return `{ algorithm: fixed-period, quota: ${quota}, period: ${period}${more && `, ${more}`} }`;
}

export function slidingLog(quota: number, period: string, more = ''): string {
  return `{ algorithm: sliding-log, quota: ${quota}, period: ${period}${more && `, ${more}`} }`;
}

/** A policy for each algorithm, the same but for that. */
export function eachAlgorithm(quota: number, period: string): [string, Policy][] {
  return [
    ['fixed-period', policyOf('fixed', fixedPeriod(quota, period))],
    ['sliding-log', policyOf('log', slidingLog(quota, period))],
  ];
}

export const SECOND = 1_000_000;
export const MILLISECOND = 1_000;

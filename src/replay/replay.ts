import type { Clock } from '../clock.js';
import type { Check, Decision, Policy } from '../domain.js';
import { toDecision } from '../policy/decision.js';
import type { Outcome, Store } from '../store/store.js';
import type { Entries } from './entries.js';
import { createTally, type Report } from './report.js';

/** Creates an empty store with room for `maxKeys` state keys. */
export type CreateStore = (clock: Clock, maxKeys: number) => Store;

export interface ReplayOptions {
  createStore: CreateStore;
  /** Called now and then with the number of checks done. Replay continues when it resolves. */
  pause?: (done: number) => Promise<void>;
}

const CHECKS_BETWEEN_PAUSES = 10_000;

/**
 * Checks every entry against a Policy, at the entry's own time and with cost 1, on an empty store.
 * Throws if the store fails.
 */
export async function replay(
  policy: Policy,
  entries: Entries,
  { createStore, pause }: ReplayOptions,
): Promise<Report> {
  let now = entries.first;
  // Room for every state that there can be, because an eviction would change the figures.
  const store = createStore(() => now, Math.max(1, entries.keys.length * policy.limits.length));
  const tally = createTally(entries);
  let done = 0;
  let pauseAt = CHECKS_BETWEEN_PAUSES;
  try {
    for (const { time, keys } of entries.instants()) {
      now = time;
      const checks = keys.map(
        (keyIndex, i): Check => ({
          kind: 'check',
          policy,
          key: entries.keys[keyIndex] ?? '',
          cost: 1,
          id: String(done + i),
        }),
      );
      const outcomes = await store.decide(checks);
      for (const [i, check] of checks.entries()) {
        tally.count(time, keys[i] ?? 0, codeOf(check, outcomes[i]));
      }
      done += keys.length;
      if (done < pauseAt) continue;
      pauseAt = done + CHECKS_BETWEEN_PAUSES;
      await pause?.(done);
    }
  } finally {
    await store.close();
  }
  return tally.report();
}

function codeOf(check: Check, outcome: Outcome | undefined): Decision['code'] {
  if (outcome?.kind === 'decided') return toDecision(check, outcome.limits).code;
  throw new Error(`the store failed: ${outcome?.cause ?? 'no answer'}`);
}

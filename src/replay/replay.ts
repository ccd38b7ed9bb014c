import type { Clock } from '../clock.js';
import type { Check, Decision, Policy } from '../domain.js';
import { toDecision } from '../policy/decision.js';
import type { Outcome, Store } from '../store/store.js';
import type { Entries } from './entries.js';
import { createTally, type Report } from './report.js';

/** An empty store with room for `maxKeys` state keys. */
export type CreateStore = (clock: Clock, maxKeys: number) => Store;

export interface ReplayOptions {
  createStore: CreateStore;
  /** How many of the most denied keys are reported. */
  top?: number;
  /** Called now and then with the number of checks done; replay goes on when it resolves. */
  pause?: (done: number) => Promise<void>;
}

const CHECKS_BETWEEN_PAUSES = 10_000;

/** Asks a Policy for every entry, at the entry's own time and cost 1, on an empty store. */
export async function replay(
  policy: Policy,
  entries: Entries,
  { createStore, top = 10, pause }: ReplayOptions,
): Promise<Report> {
  let now = entries.first;
  // Room for every state there could be: an evicted one would change the figures.
  const store = createStore(() => now, Math.max(1, entries.keys.length * policy.limits.length));
  const tally = createTally(entries);
  let done = 0;
  let pauseAt = CHECKS_BETWEEN_PAUSES;
  try {
    for (const { time, keys } of entries.instants()) {
      now = time;
      const checks = keys.map(
        (place, i): Check => ({
          kind: 'check',
          policy,
          key: entries.keys[place] ?? '',
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
  return tally.report(top);
}

function codeOf(check: Check, outcome: Outcome | undefined): Decision['code'] {
  if (outcome?.kind === 'decided') return toDecision(check, outcome.limits).code;
  throw new Error(`the store failed: ${outcome?.cause ?? 'no answer'}`);
}

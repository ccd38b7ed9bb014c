import { setTimeout as pause } from 'node:timers/promises';
import type { Check, FailureReason } from '../../src/domain.js';
import type { Outcome, Store } from '../../src/store/store.js';

/** What a busy machine may add to a time-out. */
export const SLACK_MS = 400;

/** What became of one check. */
export interface Answer {
  check: Check;
  outcome: Outcome;
  /** When it was answered, and how long that took; milliseconds. */
  at: number;
  tookMs: number;
}

/** Callers that ask one check after the other until they are told to stop. */
export function startLoad(store: Store, callers: number, next: () => Check) {
  const answers: Answer[] = [];
  let stopped = false;
  const call = async (): Promise<void> => {
    while (!stopped) {
      answers.push(await timed(store, next()));
      // A failure may be quicker than anything else gets its turn.
      await pause(1);
    }
  };
  const running = Promise.all(Array.from({ length: callers }, call));
  return {
    answers,
    async stop(): Promise<readonly Answer[]> {
      stopped = true;
      await running;
      return answers;
    },
  };
}

/** Asks all of them at the same time. */
export function askTogether(store: Store, checks: readonly Check[]): Promise<Answer[]> {
  return Promise.all(checks.map((check) => timed(store, check)));
}

async function timed(store: Store, check: Check): Promise<Answer> {
  const started = performance.now();
  const [outcome] = await store.decide([check]);
  if (outcome === undefined) throw new Error('no outcome');
  const at = performance.now();
  return { check, outcome, at, tookMs: at - started };
}

/** Why checks were not decided, each reason once. */
export function reasonsOf(answers: readonly Answer[]): FailureReason[] {
  const reasons = answers.flatMap(({ outcome }) =>
    outcome.kind === 'failure' ? [outcome.reason] : [],
  );
  return [...new Set(reasons)].sort();
}

/** What the log would say of them, each text once. */
export function causesOf(answers: readonly Answer[]): string[] {
  const causes = answers.flatMap(({ outcome }) =>
    outcome.kind === 'failure' ? [outcome.cause] : [],
  );
  return [...new Set(causes)].sort();
}

export function countFailures(answers: readonly Answer[]): number {
  return answers.filter(({ outcome }) => outcome.kind === 'failure').length;
}

export function countAllowedAnswers(answers: readonly Answer[]): number {
  return answers.filter(
    ({ outcome }) => outcome.kind === 'decided' && outcome.limits.every(({ allowed }) => allowed),
  ).length;
}

export function slowestMs(answers: readonly Answer[]): number {
  return Math.max(0, ...answers.map(({ tookMs }) => tookMs));
}

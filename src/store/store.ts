import type { Check, Failure, LimitDecision } from '../domain.js';

/** What each Limit of one Check answers, in the policy's order; or why there is no answer. */
export type Outcome = { kind: 'decided'; limits: LimitDecision[] } | Failure;

/** For what a store owes and has not given. */
export const NO_OUTCOME: Failure = { kind: 'failure', reason: 'unexpected', cause: 'no outcome' };

/**
 * What remembers. The contract:
 *
 * - `decide` answers the checks in their order and never rejects: each has its own Outcome.
 * - Each check is its own atomic step over all Limits of its policy, and a failed one leaves its
 *   neighbours alone. It charges all Limits or none; a denial writes nothing but what
 *   `countDenied` asks for.
 * - The store's own clock decides. It may step back, which counts as no time at all.
 * - State is forgotten only when it has no more meaning, or when a bound forces it, which is counted.
 */
export interface Store {
  decide(checks: readonly Check[]): Promise<Outcome[]>;
  /** Whether the store has been answering lately, and the words for an operator. */
  health(): Health;
  close(): Promise<void>;
}

export interface Health {
  up: boolean;
  detail: string;
}

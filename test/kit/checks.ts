import { ulid } from 'ulid';
import type { Check, Decision, Policy } from '../../src/domain.js';
import { toDecision } from '../../src/policy/decision.js';
import type { Outcome, Store } from '../../src/store/store.js';

export type Given = Partial<Pick<Check, 'key' | 'cost' | 'id'>>;

/** A check of cost 1 on the key `k`, unless said otherwise. */
export function checkOf(policy: Policy, given: Given = {}): Check {
  return { kind: 'check', policy, key: 'k', cost: 1, id: ulid(), ...given };
}

/** The decision of an outcome that should be one. */
export function decisionOf(check: Check, outcome: Outcome | undefined): Decision {
  if (outcome?.kind === 'decided') return toDecision(check, outcome.limits);
  throw new Error(`no decision: ${outcome?.reason} ${outcome?.cause}`);
}

/** Decides all of them at once and gives the decisions in order. */
export async function decideAll(store: Store, checks: readonly Check[]): Promise<Decision[]> {
  const outcomes = await store.decide(checks);
  if (outcomes.length !== checks.length) throw new Error('wanted one outcome a check');
  return checks.map((check, i) => decisionOf(check, outcomes[i]));
}

export async function decide(store: Store, check: Check): Promise<Decision> {
  const [decision] = await decideAll(store, [check]);
  if (decision === undefined) throw new Error('no decision');
  return decision;
}

export function countAllowed(decisions: readonly Decision[]): number {
  return decisions.filter(({ code }) => code !== 'OVER_QUOTA').length;
}

import type { Verdict } from '../../algorithm/algorithm.js';
import type { Check, Limit, LimitDecision } from '../../domain.js';

/** The states of all Limits, wherever they are. */
export interface States {
  ask(limit: Limit, key: string, cost: number, now: number): Verdict;
  charge(limit: Limit, key: string, cost: number, now: number): void;
}

/**
 * One Check, all Limits or none. The twin of `decide` in check.lua.
 *
 * A denial reports uncharged numbers. Where a Limit counts denied attempts it reports those that
 * hold after this one, so that the wait it gives is the true one.
 */
export function decideInMemory(states: States, check: Check, now: number): LimitDecision[] {
  const { policy, key, cost } = check;
  const { limits } = policy;
  const verdicts = limits.map((limit) => states.ask(limit, key, cost, now));
  if (verdicts.every((verdict) => verdict.kind === 'allow')) {
    if (cost > 0) for (const limit of limits) states.charge(limit, key, cost, now);
    return limits.map((limit, i) => toDecision(limit, verdicts[i]));
  }
  // What can never pass is not an attempt.
  const counted = verdicts.every((verdict) => verdict.kind !== 'never')
    ? limits.filter((limit) => limit.countDenied)
    : [];
  for (const limit of counted) states.charge(limit, key, cost, now);
  return limits.map((limit, i) => {
    const verdict = counted.includes(limit) ? states.ask(limit, key, cost, now) : verdicts[i];
    const uncharged = verdict?.kind === 'allow' ? states.ask(limit, key, 0, now) : verdict;
    return toDecision(limit, uncharged);
  });
}

function toDecision(limit: Limit, verdict: Verdict | undefined): LimitDecision {
  if (verdict === undefined) throw new Error('a verdict for every limit');
  const { remaining, resetAfter } = verdict;
  switch (verdict.kind) {
    case 'allow':
      return { limit, allowed: true, remaining, resetAfter };
    case 'never':
      return { limit, allowed: false, remaining, resetAfter };
    case 'wait':
      return { limit, allowed: false, remaining, resetAfter, retryAfter: verdict.retryAfter };
  }
}

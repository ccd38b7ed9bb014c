import type { Check, Decision, LimitDecision } from './check.js';

/** What the Limits of a Check say together. */
export function toDecision(check: Check, limits: readonly LimitDecision[]): Decision {
  const denied = limits.filter((limit) => !limit.allowed);
  const exhausted = limits.some(({ remaining }) => remaining === 0);
  return {
    kind: 'decision',
    check,
    code: denied.length > 0 ? 'OVER_QUOTA' : exhausted ? 'HIT_QUOTA' : 'ALLOWED',
    strictest: denied.length > 0 ? most(denied, wait) : most(limits, (limit) => -limit.remaining),
    limits,
    decidedBy: 'store',
  };
}

/** A denial without a retry time lasts for good. */
function wait({ retryAfter = Number.POSITIVE_INFINITY }: LimitDecision): number {
  return retryAfter;
}

/** The first of those with the largest measure. */
function most(
  limits: readonly LimitDecision[],
  measure: (limit: LimitDecision) => number,
): LimitDecision {
  return limits.reduce((best, limit) => (measure(limit) > measure(best) ? limit : best));
}

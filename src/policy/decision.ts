import type { Check, Decision, LimitDecision } from '../domain.js';

/** What the Limits of a Check say together. */
export function toDecision(check: Check, limits: readonly LimitDecision[]): Decision {
  const strictest = limits.reduce(stricter);
  const { allowed, remaining } = strictest;
  const code = !allowed ? 'OVER_QUOTA' : remaining === 0 ? 'HIT_QUOTA' : 'ALLOWED';
  return { kind: 'decision', check, code, strictest, limits, decidedBy: 'store' };
}

/** Of two Limits the one that denies, else the longer wait or the less remaining; the first if they are alike. */
function stricter(first: LimitDecision, second: LimitDecision): LimitDecision {
  if (first.allowed !== second.allowed) return first.allowed ? second : first;
  if (first.allowed) return second.remaining < first.remaining ? second : first;
  return wait(second) > wait(first) ? second : first;
}

/** A denial without a retry time lasts for good. */
function wait({ retryAfter = Number.POSITIVE_INFINITY }: LimitDecision): number {
  return retryAfter;
}

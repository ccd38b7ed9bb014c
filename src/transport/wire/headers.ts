import type { Decision, LimitDecision, Policy } from '../../domain.js';

/** The largest integer of a structured field (RFC 9651). */
const MAX_INTEGER = 999_999_999_999_999;

const SECOND = 1_000_000;

/**
 * Header values of draft-ietf-httpapi-ratelimit-headers-11, and Retry-After, by name. Seconds are
 * rounded up, so that none is 0 while there is something to wait for.
 */
export function headersOf(decision: Decision): Record<string, string> {
  const { check, strictest, limits } = decision;
  const headers: Record<string, string> = {
    RateLimit: limits.map(rateLimitItem).join(', '),
    'RateLimit-Policy': policyHeader(check.policy),
  };
  const { retryAfter } = strictest;
  if (retryAfter !== undefined) headers['Retry-After'] = String(seconds(retryAfter));
  return headers;
}

/**
 * `t` is the time in which no more than `r` can be had: of a denied limit that is its wait, so that
 * Retry-After is never earlier. It is left out where no wait helps, since t=0 would say: now.
 */
function rateLimitItem(decision: LimitDecision): string {
  const { limit, allowed, remaining, resetAfter, retryAfter } = decision;
  const item = `"${limit.name}";r=${Math.min(remaining, MAX_INTEGER)}`;
  const never = limit.quota === 0 || (!allowed && retryAfter === undefined);
  return never ? item : `${item};t=${seconds(retryAfter ?? resetAfter)}`;
}

const policyHeaders = new WeakMap<Policy, string>();

/** The same for every decision of a policy. `w` is left out where it is no constant number of seconds. */
function policyHeader(policy: Policy): string {
  const known = policyHeaders.get(policy);
  if (known !== undefined) return known;
  const items = policy.limits.map(({ name, quota, decider: { constantPeriod } }) => {
    const q = `"${name}";q=${Math.min(quota, MAX_INTEGER)}`;
    const whole = constantPeriod !== undefined && constantPeriod % SECOND === 0;
    return whole ? `${q};w=${constantPeriod / SECOND}` : q;
  });
  const header = items.join(', ');
  policyHeaders.set(policy, header);
  return header;
}

function seconds(microseconds: number): number {
  return Math.ceil(microseconds / SECOND);
}

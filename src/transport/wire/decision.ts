import { z } from 'zod';
import { type Decision, isAllowed, type LimitDecision, type Policy } from '../../domain.js';
import { headersOf } from './headers.js';

const count = z.int().min(0);
const code = z.enum(['ALLOWED', 'HIT_QUOTA', 'OVER_QUOTA']);
const limitDecisionSchema = z.object({
  name: z.string(),
  algorithm: z.string(),
  allowed: z.boolean(),
  quota: count,
  remaining: count,
  resetAfterMs: count,
  retryAfterMs: count.optional(),
});
export const decisionSchema = z.object({
  allowed: z.boolean(),
  code: code.describe('HIT_QUOTA: allowed, and nothing remains now; OVER_QUOTA: denied'),
  policy: z.string(),
  key: z.string(),
  cost: count,
  limit: z.string().describe('name of the strictest limit, whose numbers follow'),
  quota: count,
  remaining: count,
  resetAfterMs: count.describe('until nothing of the quota is used any more'),
  retryAfterMs: count
    .optional()
    .describe('until the same check passes if nobody else comes; only on a denial that can pass'),
  limits: z.array(limitDecisionSchema),
  decidedBy: z.string().describe('who decided'),
  checkId: z.string(),
  headers: z
    .record(z.string(), z.string())
    .describe('RateLimit, RateLimit-Policy and Retry-After for a response of yours'),
});
type WireDecision = z.output<typeof decisionSchema>;

/** And the algorithm's own fields, as in the YAML. */
const limitSchema = z.looseObject({
  name: z.string(),
  algorithm: z.string(),
  countDenied: z.boolean(),
});
export const policySchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  limits: z.array(limitSchema),
});
export const policyListSchema = z.object({ policies: z.array(policySchema) });
type WirePolicy = z.output<typeof policySchema>;

/** Whole milliseconds, rounded up, so that nobody comes back too early. */
function toMs(microseconds: number): number {
  return Math.ceil(microseconds / 1000);
}

export function toWire(decision: Decision): WireDecision {
  const { check, code, strictest, limits, decidedBy } = decision;
  const { policy, key, cost, id } = check;
  const { name, quota } = strictest.limit;
  return {
    allowed: isAllowed(decision),
    code,
    policy: policy.name,
    key,
    cost,
    limit: name,
    quota,
    remaining: strictest.remaining,
    resetAfterMs: toMs(strictest.resetAfter),
    retryAfterMs: retryAfterMs(strictest),
    limits: limits.map(limitToWire),
    decidedBy,
    checkId: id,
    headers: headersOf(decision),
  };
}

function limitToWire(decision: LimitDecision): WireDecision['limits'][number] {
  const { limit, allowed, remaining, resetAfter } = decision;
  const { name, algorithm, quota } = limit;
  return {
    name,
    algorithm,
    allowed,
    quota,
    remaining,
    resetAfterMs: toMs(resetAfter),
    retryAfterMs: retryAfterMs(decision),
  };
}

function retryAfterMs({ retryAfter }: LimitDecision): number | undefined {
  return retryAfter === undefined ? undefined : toMs(retryAfter);
}

export function policyToWire({ name, description, limits }: Policy): WirePolicy {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    limits: limits.map(({ name: limit, algorithm, shown, countDenied }) => ({
      name: limit,
      algorithm,
      ...shown,
      countDenied,
    })),
  };
}

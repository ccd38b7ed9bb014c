import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import { z } from 'zod';
import {
  type BadRequest,
  type CheckRequest,
  type Decision,
  type Failure,
  isAllowed,
  type LimitDecision,
  MAX_KEY_BYTES,
  type Policy,
  type UnknownPolicy,
} from '../check.js';
import { explainIssue, valueAt } from '../config/issues.js';
import { headersOf } from './headers.js';

/** Random once a millisecond and counted from there, from randomness that is fetched by the page. */
const newId = monotonicFactory(bufferedRandom());

/** The largest request that any transport takes, in bytes. */
export const MAX_REQUEST_BYTES = 16 * 1024;

const policyName = z.string().min(1).max(128).describe('name of a policy');
const key = z
  .string()
  .min(1)
  .refine((text) => text.length <= MAX_KEY_BYTES && Buffer.byteLength(text) <= MAX_KEY_BYTES, {
    error: `wanted at most ${MAX_KEY_BYTES} bytes of UTF-8`,
  })
  .refine((text) => text.isWellFormed(), { error: 'wanted text without lone surrogates' })
  .describe('whom the check is about; opaque, compared byte by byte');

export const checkRequestSchema = z.strictObject({
  policy: policyName,
  key,
  cost: z.int().min(0).default(1).describe('0 peeks: it charges nothing'),
  checkId: z
    .string()
    .regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i, {
      error: 'wanted a ULID: 26 characters of Crockford base 32',
    })
    .optional()
    .describe('a ULID of your own, to find the check again'),
});
export const peekRequestSchema = z.strictObject({ policy: policyName, key });

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
  resetAfterMs: count.describe('until the limit is as new'),
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
export type WireDecision = z.output<typeof decisionSchema>;

const limitSchema = z.object({
  name: z.string(),
  algorithm: z.string(),
  quota: count,
  period: z.string(),
  align: z.string().optional(),
  timezone: z.string().optional(),
  countDenied: z.boolean(),
});
export const policySchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  limits: z.array(limitSchema),
});
export const policyListSchema = z.object({ policies: z.array(policySchema) });
export type WirePolicy = z.output<typeof policySchema>;

/** Reads a check that arrived as `data`. */
export function parseCheck(data: unknown): CheckRequest | BadRequest {
  const parsed = checkRequestSchema.safeParse(data);
  if (!parsed.success) return badRequest(parsed.error, data, checkRequestSchema.shape);
  const { policy, key, cost, checkId } = parsed.data;
  return { kind: 'request', policy, key, cost, id: checkId ?? newId() };
}

/** Reads a question that charges nothing. */
export function parsePeek(data: unknown): CheckRequest | BadRequest {
  const parsed = peekRequestSchema.safeParse(data);
  if (!parsed.success) return badRequest(parsed.error, data, peekRequestSchema.shape);
  return { kind: 'request', ...parsed.data, cost: 0, id: newId() };
}

function badRequest(error: z.ZodError, data: unknown, shape: object): BadRequest {
  const violations = error.issues.flatMap((issue) =>
    explainIssue(issue, valueAt(data, issue.path), Object.keys(shape)),
  );
  return {
    kind: 'bad-request',
    violations: violations.map(({ path, message }) => ({ field: path.join('.'), message })),
  };
}

/** Whole milliseconds, rounded up, so that nobody comes back too early. */
function toMs(microseconds: number): number {
  return Math.ceil(microseconds / 1000);
}

function times({ resetAfter, retryAfter }: LimitDecision) {
  const resetAfterMs = toMs(resetAfter);
  return retryAfter === undefined
    ? { resetAfterMs }
    : { resetAfterMs, retryAfterMs: toMs(retryAfter) };
}

export function toWire(decision: Decision): WireDecision {
  const { check, code, strictest, limits, decidedBy } = decision;
  return {
    allowed: isAllowed(decision),
    code,
    policy: check.policy.name,
    key: check.key,
    cost: check.cost,
    limit: strictest.limit.name,
    quota: strictest.limit.quota,
    remaining: strictest.remaining,
    ...times(strictest),
    limits: limits.map((limit) => ({
      name: limit.limit.name,
      algorithm: limit.limit.algorithm,
      allowed: limit.allowed,
      quota: limit.limit.quota,
      remaining: limit.remaining,
      ...times(limit),
    })),
    decidedBy,
    checkId: check.id,
    headers: headersOf(decision),
  };
}

export function policyToWire({ name, description, limits }: Policy): WirePolicy {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    limits: limits.map(({ rule: _, align, timezone, ...limit }) => ({
      ...limit,
      ...(align === undefined ? {} : { align }),
      ...(timezone === undefined ? {} : { timezone }),
    })),
  };
}

/** Programs tell errors apart by these; the same on every transport. */
export const REASONS = {
  badRequest: 'BAD_REQUEST',
  unknownPolicy: 'POLICY_NOT_FOUND',
  internal: 'INTERNAL',
} as const;

export const INTERNAL_TEXT = 'a fault of Sluice; it is in the log';

export function badRequestText({ violations }: BadRequest): string {
  return violations
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join('; ');
}

export function unknownPolicyText({ policy, near }: UnknownPolicy): string {
  const hint = near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`;
  return `there is no policy ${JSON.stringify(policy)}${hint}`;
}

/** What a caller may know of a failure; its cause stays in the log. */
export function failureText({ reason }: Failure): { reason: string; text: string } {
  return reason === 'timeout'
    ? {
        reason: 'STORE_TIMEOUT',
        text: 'the store did not answer in time; the check may have been charged',
      }
    : {
        reason: 'STORE_UNAVAILABLE',
        text: 'the store cannot be used now; no decision could be made',
      };
}

/** Numbers in [0, 1) from the system's secure source, as ulid wants them; asking for each takes a microsecond. */
function bufferedRandom(): () => number {
  const bytes = new Uint8Array(4096);
  let at = bytes.length;
  return () => {
    if (at === bytes.length) {
      randomFillSync(bytes);
      at = 0;
    }
    return (bytes[at++] ?? 0) / 256;
  };
}

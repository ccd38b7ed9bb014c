import { z } from 'zod';
import { explainIssues } from '../../diagnostics/issues.js';
import { type BadRequest, type CheckRequest, MAX_KEY_BYTES } from '../../domain.js';
import { newCheckId } from './ids.js';

/** The largest request that any transport takes, in bytes. */
export const MAX_REQUEST_BYTES = 16 * 1024;

const MAX_POLICY_NAME = 128;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

const policyName = z.string().min(1).max(MAX_POLICY_NAME).describe('name of a policy');
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
    .regex(ULID, {
      error: 'wanted a ULID: 26 characters of Crockford base 32',
    })
    .optional()
    .describe('a ULID of your own; the answer and the log have it'),
});
const peekRequestSchema = z.strictObject({ policy: policyName, key });
const policyRequestSchema = z.strictObject({ policy: policyName });

const CHECK_FIELDS = new Set(Object.keys(checkRequestSchema.shape));
/** A character of a key takes three bytes at most. */
const SHORT_KEY = Math.floor(MAX_KEY_BYTES / 3);

/**
 * Reads a check as `checkRequestSchema` does, in a tenth of the time, if it is well-formed and its
 * key is short. All others have the schema read them, which knows what is wrong.
 */
export function readPlainCheck(data: unknown): CheckRequest | undefined {
  if (!isObject(data)) return undefined;
  for (const field in data) if (!CHECK_FIELDS.has(field)) return undefined;
  const { policy, key, cost = 1, checkId } = data;
  if (typeof policy !== 'string' || policy === '' || policy.length > MAX_POLICY_NAME) return;
  if (typeof key !== 'string' || key === '' || key.length > SHORT_KEY || !key.isWellFormed())
    return;
  if (typeof cost !== 'number' || !Number.isSafeInteger(cost) || cost < 0) return;
  if (checkId === undefined) return { kind: 'request', policy, key, cost, id: newCheckId() };
  if (typeof checkId !== 'string' || !ULID.test(checkId)) return;
  return { kind: 'request', policy, key, cost, id: checkId };
}

function isObject(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** Reads a check that arrived as `data`. */
export function parseCheck(data: unknown): CheckRequest | BadRequest {
  const plain = readPlainCheck(data);
  if (plain !== undefined) return plain;
  const parsed = checkRequestSchema.safeParse(data);
  if (!parsed.success) return badRequest(parsed.error, data, checkRequestSchema.shape);
  const { policy, key, cost, checkId } = parsed.data;
  return { kind: 'request', policy, key, cost, id: checkId ?? newCheckId() };
}

/** Reads a question that charges nothing. */
export function parsePeek(data: unknown): CheckRequest | BadRequest {
  const parsed = peekRequestSchema.safeParse(data);
  if (!parsed.success) return badRequest(parsed.error, data, peekRequestSchema.shape);
  return { kind: 'request', ...parsed.data, cost: 0, id: newCheckId() };
}

/** Reads a question about a policy. */
export function parsePolicyName(data: unknown): { kind: 'named'; policy: string } | BadRequest {
  const parsed = policyRequestSchema.safeParse(data);
  if (!parsed.success) return badRequest(parsed.error, data, policyRequestSchema.shape);
  return { kind: 'named', ...parsed.data };
}

/** Whatever was sent, the answer stays small. */
const MAX_VIOLATIONS = 20;
const MAX_FIELD = 100;

function badRequest(error: z.ZodError, data: unknown, shape: object): BadRequest {
  const explained = explainIssues(error, data, () => Object.keys(shape), MAX_VIOLATIONS);
  const violations = explained.map(({ path, message }) => ({
    field: shorten(path.join('.')),
    // A value that was cut may end in half a character, which gRPC cannot send.
    message: message.toWellFormed(),
  }));
  return { kind: 'bad-request', violations };
}

function shorten(field: string): string {
  return field.length <= MAX_FIELD ? field : `${field.slice(0, MAX_FIELD)}...`.toWellFormed();
}

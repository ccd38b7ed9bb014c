import { z } from 'zod';
import { type BadRequest, type CheckRequest, MAX_KEY_BYTES } from '../check.js';
import { explainIssues } from '../config/issues.js';
import { newCheckId } from './check-id.js';

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
    .describe('a ULID of your own; the answer and the log have it'),
});
const peekRequestSchema = z.strictObject({ policy: policyName, key });
const policyRequestSchema = z.strictObject({ policy: policyName });

/** Reads a check that arrived as `data`. */
export function parseCheck(data: unknown): CheckRequest | BadRequest {
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

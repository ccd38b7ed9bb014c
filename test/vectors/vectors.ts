import { readFileSync } from 'node:fs';
import { z } from 'zod';

const check = z.strictObject({
  /** Milliseconds after the start of the sequence. */
  at: z.number(),
  cost: z.int().default(1),
  key: z.string().default('k'),
  code: z.int().min(1).max(3),
  remaining: z.int(),
  resetAfterMs: z.number().optional(),
  /** Null says that there is no time to wait for. */
  retryAfterMs: z.number().nullable().optional(),
});
const sequence = z.strictObject({
  about: z.string().optional(),
  limit: z.looseObject({ algorithm: z.string(), quota: z.number(), period: z.string() }),
  start: z.iso.datetime().default('2026-06-03T10:20:30Z'),
  checks: z.array(check).min(1),
});
const file = z.strictObject({
  about: z.string(),
  codes: z.record(z.string(), z.number()).optional(),
  sequences: z.array(sequence).min(1),
});

export type Sequence = z.output<typeof sequence>;

/** The sequences of checks in one of the files beside this one, with what must be answered. */
export function readVectors(name: string): z.output<typeof file> {
  const text = readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8');
  const data: unknown = JSON.parse(text);
  return file.parse(data);
}

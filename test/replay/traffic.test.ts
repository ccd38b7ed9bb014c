import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadPolicies } from '../../src/policy/file.js';
import { run } from './run.js';

const pathOf = (name: string) => fileURLToPath(new URL(`../traffic/${name}`, import.meta.url));
const policies = [...loadPolicies(pathOf('policies.yaml')).values()];

const codes = z.strictObject({ ALLOWED: z.int(), HIT_QUOTA: z.int(), OVER_QUOTA: z.int() });
const figures = {
  checks: z.int(),
  allowed: z.int(),
  denied: z.int(),
  keys: z.int(),
  keysDenied: z.int(),
};
const expectedSchema = z.record(
  z.string(),
  z.strictObject({
    ...figures,
    topDenied: z.array(z.tuple([z.string(), z.int()])),
    codes: codes.optional(),
  }),
);
const outputSchema = z.strictObject({
  policies: z.record(
    z.string(),
    z.strictObject({
      ...figures,
      codes,
      topDenied: z.array(z.strictObject({ key: z.string(), denied: z.int() })),
    }),
  ),
  skippedLines: z.int(),
});
const expected = expectedSchema.parse(JSON.parse(readFileSync(pathOf('expected.json'), 'utf8')));

describe.each(['client', '=all'])('a real access log with the key %s', async (key) => {
  const options = { policies: pathOf('policies.yaml'), log: pathOf('access.log'), key };
  const { out } = await run({ ...options, json: true });
  const output = outputSchema.parse(JSON.parse(out));

  test('is read to its last line', () => {
    expect(output.skippedLines).toBe(0);
    expect(Object.keys(output.policies)).toEqual(policies.map(({ name }) => name));
  });

  const rows = policies.flatMap(({ name, description = '' }) =>
    description.includes('one key for all') === (key === '=all') ? [{ name, description }] : [],
  );
  test.each(rows)(
    'gives the figures of an exact limiter: $description',
    ({ name, description }) => {
      const report = output.policies[name];
      const row = expected[description];
      expect(report).toBeDefined();
      expect(row).toBeDefined();
      if (report === undefined || row === undefined) return;
      const { topDenied, codes: rowCodes, ...counts } = row;
      expect(report).toMatchObject(counts);
      expect(report.topDenied.slice(0, 3).map((top) => [top.key, top.denied])).toEqual(topDenied);
      expect(report.codes).toEqual(rowCodes ?? report.codes);
      expect(report.codes.ALLOWED + report.codes.HIT_QUOTA).toBe(row.allowed);
      expect(report.codes.OVER_QUOTA).toBe(row.denied);
    },
  );
});

test('every expected row has a policy, except those of an algorithm that does not exist yet', () => {
  const covered = policies.map(({ description }) => description);
  const missing = Object.keys(expected).filter((row) => !covered.includes(row));
  expect(missing.filter((row) => !row.startsWith('token-bucket'))).toEqual([]);
  expect(covered).toHaveLength(Object.keys(expected).length - missing.length);
});

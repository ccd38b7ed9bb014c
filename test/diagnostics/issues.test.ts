import { expect, test } from 'vitest';
import { z } from 'zod';
import { explainIssues } from '../../src/diagnostics/issues.js';

const schema = z.strictObject({ cost: z.int(), kind: z.enum(['a', 'b']).optional() });

function messages(data: unknown, most?: number): string[] {
  const { error } = schema.safeParse(data);
  const explained = error ? explainIssues(error, data, () => ['cost', 'kind'], most) : [];
  return explained.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** A list in a list, and so on. */
function nest(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

test('a nest of any depth is shown in words', () => {
  expect(messages({ cost: nest(8000), kind: nest(8000) })).toEqual([
    'cost: wanted a number, got a list of 1',
    'kind: wanted a or b, got a list of 1',
  ]);
});

test('a long list and a long map are shown in words, short ones as they are', () => {
  const long = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`field${i}`, i]));
  expect(messages({ cost: long })).toEqual(['cost: wanted a number, got a map of fields']);
  expect(messages({ cost: { a: null } })).toEqual(['cost: wanted a number, got {"a":null}']);
  expect(messages({ cost: Array(5000).fill(1) })).toEqual([
    'cost: wanted a number, got a list of 5000',
  ]);
});

test('more sentences than wanted are counted', () => {
  const data = Object.fromEntries(Array.from({ length: 1300 }, (_, i) => [`unknown${i}`, i]));
  const shown = messages(data, 20);
  expect(shown).toHaveLength(21);
  expect(shown.slice(0, 3)).toEqual([
    'cost: wanted a number, nothing given',
    'unknown0: unknown field; wanted one of cost, kind',
    'unknown1: unknown field',
  ]);
  expect(shown.at(-1)).toBe(': and 1281 more');
  expect(messages(data)).toHaveLength(1301);
  expect(messages({ nope: 1 }, 2)).toHaveLength(2);
});

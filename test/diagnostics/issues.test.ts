import { expect, test } from 'vitest';
import { z } from 'zod';
import { explainIssues } from '../../src/diagnostics/issues.js';

const schema = z.strictObject({ cost: z.int(), kind: z.enum(['a', 'b']).optional() });

function messages(data: unknown, max?: number): string[] {
  const { error } = schema.safeParse(data);
  const explained = error ? explainIssues(error, data, () => ['cost', 'kind'], max) : [];
  return explained.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** A list in a list in a list, as deep as `depth`. */
function nest(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

test('a deeply nested value is shown as its kind', () => {
  expect(messages({ cost: nest(8000), kind: nest(8000) })).toEqual([
    'cost: wanted a number, got a list of 1 item',
    'kind: wanted a or b, got a list of 1 item',
  ]);
});

test('long lists and maps are shown as their kind, short ones as JSON', () => {
  const long = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`field${i}`, i]));
  expect(messages({ cost: long })).toEqual(['cost: wanted a number, got a map of fields']);
  expect(messages({ cost: { a: null } })).toEqual(['cost: wanted a number, got {"a":null}']);
  expect(messages({ cost: Array(5000).fill(1) })).toEqual([
    'cost: wanted a number, got a list of 5000 items',
  ]);
});

test('messages beyond the maximum are only counted', () => {
  const data = Object.fromEntries(Array.from({ length: 1300 }, (_, i) => [`unknown${i}`, i]));
  const shown = messages(data, 20);
  expect(shown).toHaveLength(21);
  expect(shown.slice(0, 3)).toEqual([
    'cost: wanted a number, got nothing',
    'unknown0: unknown field; wanted one of cost, kind',
    'unknown1: unknown field',
  ]);
  expect(shown.at(-1)).toBe(': and 1281 more');
  expect(messages(data)).toHaveLength(1301);
  expect(messages({ nope: 1 }, 2)).toHaveLength(2);
});

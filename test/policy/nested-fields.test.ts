import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Decider } from '../../src/algorithm/registry.js';
import { loadPolicies } from '../../src/policy/file.js';
import { tempFile } from '../kit/files.js';

// No algorithm has fields inside a field yet, so these tests register one that has.
vi.mock(import('../../src/algorithm/registry.js'), async (importOriginal) => {
  const original = await importOriginal();
  const shape = {
    quota: z.int(),
    rate: z.strictObject({ perSecond: z.int() }).optional(),
    steps: z.array(z.strictObject({ after: z.int() })).optional(),
  };
  const schema = z.strictObject(shape).transform(
    ({ quota }): Decider => ({
      stateTag: '',
      quota,
      constantPeriod: undefined,
      maxCost: undefined,
      usesId: false,
      numbers: () => ({}),
      newTable: () => {
        throw new Error('not stored');
      },
    }),
  );
  const nested = { name: 'nested', schema, fields: Object.keys(shape) };
  return { ...original, algorithms: [...original.algorithms, nested] };
});

function load(fields: string) {
  const limit = `{ algorithm: nested, quota: 1${fields} }`;
  return loadPolicies(tempFile('p.yaml', `policies: { p: { limits: [${limit}] } }`));
}

test('an unknown field inside a field is compared with the fields that belong there', () => {
  expect(() => load(', rate: { perSecnd: 1, perSecond: 1 }')).toThrow(
    /limits\[0\]\.rate\.perSecnd: unknown field \(did you mean perSecond\?\); wanted one of perSecond$/,
  );
  expect(() => load(', steps: [{ after: 1 }, { after: 2, befor: 3 }]')).toThrow(
    /limits\[0\]\.steps\[1\]\.befor: unknown field; wanted one of after$/,
  );
  expect(() => load(', rat: 1')).toThrow(/wanted one of name, .*, quota, rate, steps$/);
});

test('a field that is not a scalar is reported with its path', () => {
  expect(load('').get('p')?.limits[0].shown).toEqual({ quota: 1 });
  expect(() => load(', rate: { perSecond: 1 }')).toThrow(
    expect.objectContaining({
      name: 'ConfigError',
      message: expect.stringMatching(
        /p\.yaml:1:\d+: policies\.p\.limits\[0\]\.rate: wanted a string, a number, or true or false, got \{"perSecond":1\}$/,
      ),
    }),
  );
});

import { describe, expect, test } from 'vitest';
import { createBackend, STORES } from '../kit/stores.js';
import { openBench } from './conformance/case.js';
import { costCases } from './conformance/cost.js';
import { edgeCases } from './conformance/edges.js';
import { instanceCases } from './conformance/instances.js';
import { keyCases } from './conformance/keys.js';
import { limitsCases } from './conformance/limits.js';
import { steadyCases } from './conformance/steady.js';
import { vectorCases } from './conformance/vectors.js';

const CASES = [
  ...vectorCases,
  ...edgeCases,
  ...steadyCases,
  ...limitsCases,
  ...costCases,
  ...keyCases,
  ...instanceCases,
];
/** Written down, so that a case that gets lost is noticed. */
const COUNT = 86;

const ran = new Map<string, string[]>(STORES.map((kind) => [kind, []]));

for (const kind of STORES) {
  describe(`a store of kind ${kind}`, () => {
    for (const { name, run } of CASES) {
      test(name, async () => {
        const backend = createBackend(kind);
        try {
          await run(await openBench(backend));
        } finally {
          await backend.close();
        }
        ran.get(kind)?.push(name);
      });
    }
  });
}

test('every store ran every case, and there are as many as there should be', () => {
  const names = CASES.map(({ name }) => name);
  expect(new Set(names).size).toBe(COUNT);
  for (const kind of STORES) expect(ran.get(kind)).toEqual(names);
});

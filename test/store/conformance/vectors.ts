import { expect } from 'vitest';
import { CODES } from '../../../src/domain.js';
import { microseconds } from '../../kit/clock.js';
import { policyOf } from '../../kit/policies.js';
import { readVectors, type Sequence } from '../../vectors/vectors.js';
import type { Case } from './case.js';

/** Every sequence of the vectors is a case. */
export const vectorCases: readonly Case[] = ['period-limit', 'fixed-period', 'sliding-log'].flatMap(
  (name) => readVectors(name).sequences.map((sequence, i) => caseOf(name, sequence, i)),
);

function caseOf(file: string, sequence: Sequence, i: number): Case {
  const { limit, start, checks, about = `sequence ${i + 1}, a quota of ${limit.quota}` } = sequence;
  return {
    name: `${file}: ${about}`,
    async run({ ask, clock }) {
      const policy = policyOf('p', JSON.stringify(limit));
      const answers: unknown[] = [];
      for (const { at, cost, key, ...expected } of checks) {
        clock.set(microseconds(start) + Math.round(at * 1000));
        const { code, strictest } = await ask(policy, { cost, key });
        answers.push({
          at,
          code: CODES[code],
          remaining: strictest.remaining,
          ...('resetAfterMs' in expected && { resetAfterMs: strictest.resetAfter / 1000 }),
          ...('retryAfterMs' in expected && { retryAfterMs: inMs(strictest.retryAfter) }),
        });
      }
      expect(answers).toEqual(checks.map(({ cost: _cost, key: _key, ...expected }) => expected));
    },
  };
}

function inMs(time: number | undefined): number | null {
  return time === undefined ? null : time / 1000;
}

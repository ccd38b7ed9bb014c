import { expect } from 'vitest';
import { checkOf } from '../../kit/checks.js';
import { policyOf } from '../../kit/policies.js';
import { type Case, eachAlgorithm, fixedPeriod, SECOND, slidingLog } from './case.js';

/** What a cost of nothing, of everything and of too much does. */
export const costCases: readonly Case[] = [
  {
    name: 'writes nothing for a peek of cost 0, before and after the first charge',
    async run({ ask, clock, backend }) {
      const policy = policyOf(
        'p',
        fixedPeriod(5, '10s', 'name: a, countDenied: true'),
        slidingLog(5, '10s', 'name: b, countDenied: true'),
      );
      for (let i = 0; i < 10; i++) await ask(policy, { cost: 0 });
      const { view } = backend;
      if (view !== undefined) expect(await view.keys()).toEqual([]);
      await ask(policy);
      clock.advance(3 * SECOND);
      for (let i = 0; i < 10; i++) {
        const peek = await ask(policy, { cost: 0 });
        expect(peek.code).toBe('ALLOWED');
        expect(peek.limits.map((limit) => [limit.remaining, limit.resetAfter])).toEqual([
          [4, 7 * SECOND],
          [4, 7 * SECOND],
        ]);
      }
    },
  },
  {
    name: 'answers a peek of an exhausted key with HIT_QUOTA: it costs nothing, so it is no denial',
    async run({ ask }) {
      for (const [name, policy] of eachAlgorithm(3, '10s')) {
        await ask(policy, { key: name, cost: 3 });
        const peek = await ask(policy, { key: name, cost: 0 });
        expect(peek.code).toBe('HIT_QUOTA');
        expect(peek.strictest).not.toHaveProperty('retryAfter');
      }
    },
  },
  {
    name: 'writes nothing for a cost above the quota, which has no time to wait for',
    async run({ ask, backend }) {
      for (const [name, policy] of eachAlgorithm(3, '10s')) {
        for (const cost of [4, 1000, Number.MAX_SAFE_INTEGER]) {
          const { code, strictest } = await ask(policy, { key: name, cost });
          expect([code, strictest.remaining, strictest.resetAfter]).toEqual(['OVER_QUOTA', 3, 0]);
          expect(strictest).not.toHaveProperty('retryAfter');
        }
      }
      const { view } = backend;
      if (view !== undefined) expect(await view.keys()).toEqual([]);
    },
  },
  {
    name: 'C097 takes each unit of a cost for one: cost 5, twenty-one times, of a quota of 100',
    async run({ ask, askAll }) {
      for (const [name, policy] of eachAlgorithm(100, '60s')) {
        const checks = Array.from({ length: 20 }, () => checkOf(policy, { key: name, cost: 5 }));
        const left = (await askAll(checks)).map(({ strictest }) => strictest.remaining);
        expect(left).toEqual(Array.from({ length: 20 }, (_, i) => 95 - 5 * i));
        const last = await ask(policy, { key: name, cost: 5 });
        expect([last.code, last.strictest.remaining]).toEqual(['OVER_QUOTA', 0]);
      }
    },
  },
  {
    name: 'C073 takes nothing for a denial, at every algorithm',
    async run({ ask }) {
      for (const [name, policy] of eachAlgorithm(10, '60s')) {
        const left: number[] = [];
        for (const cost of [8, 5, 1]) {
          left.push((await ask(policy, { key: name, cost })).strictest.remaining);
        }
        expect(left).toEqual([2, 2, 1]);
      }
    },
  },
  {
    name: 'takes the whole of a large log in an instant, and gives it back in one',
    async run({ ask, clock }) {
      const policy = policyOf('p', slidingLog(10_000, '10s'));
      for (const left of [8_000, 6_000, 4_000, 2_000, 0]) {
        expect((await ask(policy, { cost: 2_000 })).strictest.remaining).toBe(left);
      }
      expect((await ask(policy)).strictest.retryAfter).toBe(10 * SECOND);
      clock.advance(10 * SECOND);
      for (const left of [9_999, 9_998, 9_997]) {
        expect((await ask(policy)).strictest.remaining).toBe(left);
      }
      for (const left of [7_997, 5_997, 3_997, 1_997]) {
        expect((await ask(policy, { cost: 2_000 })).strictest.remaining).toBe(left);
      }
      expect((await ask(policy, { cost: 1_997 })).code).toBe('HIT_QUOTA');
      expect((await ask(policy)).strictest.retryAfter).toBe(10 * SECOND);
    },
  },
];

import { expect } from 'vitest';
import { checkOf, countAllowed } from '../../kit/checks.js';
import { policyOf } from '../../kit/policies.js';
import { type Case, fixedPeriod, SECOND, slidingLog } from './case.js';

/** Several Limits of one Policy: all or nothing, in one step. */
export const limitsCases: readonly Case[] = [
  {
    name: 'C100 takes nothing from the global limit for checks that the own limit denies',
    async run({ ask, askAll }) {
      const policy = policyOf(
        'p',
        fixedPeriod(1, '1m', 'name: user'),
        slidingLog(10, '1m', 'name: global'),
      );
      const decisions = await askAll(Array.from({ length: 20 }, () => checkOf(policy)));
      expect(countAllowed(decisions)).toBe(1);
      const peek = await ask(policy, { cost: 0 });
      expect(peek.limits.map(({ remaining }) => remaining)).toEqual([0, 9]);
    },
  },
  {
    name: 'C101 takes nothing from the second limit for checks that the first denies',
    async run({ ask, askAll }) {
      for (const [first, second] of [
        [fixedPeriod(2, '1m', 'name: a'), fixedPeriod(10, '1m', 'name: b')],
        [slidingLog(2, '1m', 'name: a'), slidingLog(10, '1m', 'name: b')],
        [slidingLog(10, '1m', 'name: a'), fixedPeriod(2, '1m', 'name: b')],
      ] as const) {
        const policy = policyOf('p', first, second);
        const key = `${first} and ${second}`;
        const decisions = await askAll(Array.from({ length: 8 }, () => checkOf(policy, { key })));
        expect(decisions.map(({ code }) => code !== 'OVER_QUOTA')).toEqual([
          ...[true, true],
          ...[false, false, false, false, false, false],
        ]);
        const { limits } = await ask(policy, { key, cost: 0 });
        const left = Object.fromEntries(
          limits.map(({ limit, remaining }) => [limit.quota, remaining]),
        );
        expect(left).toEqual({ 2: 0, 10: 8 });
      }
    },
  },
  {
    name: 'reports uncharged numbers on a denial, and those of the longest wait as the strictest',
    async run({ ask }) {
      const policy = policyOf(
        'p',
        fixedPeriod(4, '10s', 'name: short'),
        fixedPeriod(3, '1m', 'name: long'),
        fixedPeriod(9, '1h', 'name: free'),
      );
      await ask(policy, { cost: 2 });
      const denied = await ask(policy, { cost: 3 });
      expect(
        denied.limits.map(({ limit, allowed, remaining, resetAfter, retryAfter }) => [
          ...[limit.name, allowed, remaining],
          ...[resetAfter / SECOND, retryAfter],
        ]),
      ).toEqual([
        ['short', false, 2, 10, 10 * SECOND],
        ['long', false, 1, 60, 60 * SECOND],
        ['free', true, 7, 3600, undefined],
      ]);
      expect(denied.strictest.limit.name).toBe('long');
      const peek = await ask(policy, { cost: 0 });
      expect(peek.limits.map(({ remaining }) => remaining)).toEqual([2, 1, 7]);
    },
  },
  {
    name: 'charges no limit if one of them can never hold the cost',
    async run({ ask }) {
      const policy = policyOf(
        'p',
        slidingLog(10, '10s', 'name: large, countDenied: true'),
        fixedPeriod(2, '10s', 'name: small, countDenied: true'),
      );
      const denied = await ask(policy, { cost: 3 });
      expect(denied.code).toBe('OVER_QUOTA');
      expect(denied.strictest).toMatchObject({ limit: { name: 'small' }, remaining: 2 });
      expect(denied.strictest).not.toHaveProperty('retryAfter');
      expect(denied.limits[0]).toMatchObject({ allowed: true, remaining: 10, resetAfter: 0 });
      const peek = await ask(policy, { cost: 0 });
      expect(peek.limits.map(({ remaining }) => remaining)).toEqual([10, 2]);
    },
  },
  {
    name: 'counts a denied attempt on the limits that say countDenied, whichever limit denied',
    async run({ ask, clock }) {
      const policy = policyOf(
        'p',
        fixedPeriod(1, '10s', 'name: denies'),
        slidingLog(3, '60s', 'name: counts, countDenied: true'),
        fixedPeriod(3, '60s', 'name: does-not'),
      );
      await ask(policy);
      const second = await ask(policy);
      expect(second.limits.map(({ remaining }) => remaining)).toEqual([0, 1, 2]);
      const third = await ask(policy);
      expect(third.limits.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [false, 0],
        [false, 0],
        [true, 2],
      ]);
      expect(third.strictest).toMatchObject({
        limit: { name: 'counts' },
        retryAfter: 60 * SECOND,
      });
      clock.advance(60 * SECOND);
      expect((await ask(policy)).limits.map(({ remaining }) => remaining)).toEqual([0, 2, 2]);
    },
  },
  {
    name: 'C151 gives the numbers of every limit, and the least remaining as the strictest',
    async run({ ask }) {
      const policy = policyOf(
        'p',
        fixedPeriod(10, '60s', 'name: min'),
        fixedPeriod(100, '3600s', 'name: hour'),
      );
      await ask(policy);
      await ask(policy);
      const third = await ask(policy);
      expect(
        third.limits.map(({ limit, remaining, resetAfter }) => [limit.name, remaining, resetAfter]),
      ).toEqual([
        ['min', 7, 60 * SECOND],
        ['hour', 97, 3600 * SECOND],
      ]);
      expect(third.strictest.limit.name).toBe('min');
    },
  },
  {
    name: 'has room for sixteen limits',
    async run({ ask }) {
      const limits = Array.from({ length: 16 }, (_, i) =>
        i % 2 === 0
          ? fixedPeriod(i + 1, '10s', `name: l${i}`)
          : slidingLog(i + 1, '10s', `name: l${i}`),
      );
      const policy = policyOf('p', ...limits);
      const first = await ask(policy);
      expect(first.limits.map(({ remaining }) => remaining)).toEqual(limits.map((_, i) => i));
      expect((await ask(policy)).code).toBe('OVER_QUOTA');
    },
  },
];

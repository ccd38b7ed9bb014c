import { expect } from 'vitest';
import { checkOf, countAllowed } from '../../kit/checks.js';
import { policyOf } from '../../kit/policies.js';
import { type Case, eachAlgorithm, fixedPeriod, MILLISECOND, SECOND, slidingLog } from './case.js';

/** How much a limit lets through, exactly. */
export const edgeCases: readonly Case[] = [
  {
    name: 'C158 lets exactly the quota through, whether 1, 2, 49, 50 or 51',
    async run({ askAll }) {
      for (const quota of [1, 2, 49, 50, 51]) {
        for (const [name, policy] of eachAlgorithm(quota, '60s')) {
          const key = `${name} ${quota}`;
          const checks = Array.from({ length: quota + 1 }, () => checkOf(policy, { key }));
          expect(countAllowed(await askAll(checks))).toBe(quota);
        }
      }
    },
  },
  {
    name: 'C095 counts each of 1000 checks of one instant, and each gets its own remaining',
    async run({ askAll, backend }) {
      const policy = policyOf('p', slidingLog(100, '60s'));
      const decisions = await askAll(Array.from({ length: 1000 }, () => checkOf(policy)));
      const left = decisions
        .filter(({ code }) => code !== 'OVER_QUOTA')
        .map(({ strictest }) => strictest.remaining);
      expect(left).toEqual(Array.from({ length: 100 }, (_, i) => 99 - i));
      const { view } = backend;
      if (view !== undefined) expect(await view.entries(await view.onlyKey())).toBe(100);
    },
  },
  {
    name: 'C095 counts a check once each time it is asked, although its id is the same',
    async run({ ask, askAll, clock, backend }) {
      const policy = policyOf('p', slidingLog(10, '60s'));
      const id = '01JZZZZZZZZZZZZZZZZZZZZZZZ';
      const same = Array.from({ length: 3 }, () => checkOf(policy, { id, cost: 2 }));
      const left = (await askAll(same)).map(({ strictest }) => strictest.remaining);
      expect(left).toEqual([8, 6, 4]);
      clock.advance(SECOND);
      expect((await ask(policy, { id })).strictest.remaining).toBe(3);
      expect((await ask(policy, { id: `${id}:2` })).strictest.remaining).toBe(2);
      const { view } = backend;
      if (view !== undefined) expect(await view.entries(await view.onlyKey())).toBe(8);
    },
  },
  {
    name: 'C014 forgets what is over, so steady traffic never fills a log',
    async run({ ask, clock, backend }) {
      const policy = policyOf('p', slidingLog(5, '5s'));
      const left: number[] = [];
      for (let i = 0; i < 31; i++) {
        const { code, strictest } = await ask(policy);
        expect(code).toBe('ALLOWED');
        left.push(strictest.remaining);
        const { view } = backend;
        if (view !== undefined) {
          expect(await view.entries(await view.onlyKey())).toBeLessThanOrEqual(3);
        }
        clock.advance(2 * SECOND);
      }
      expect(left).toEqual([4, 3, ...Array.from({ length: 29 }, () => 2)]);
    },
  },
  {
    name: 'C055 holds one entry after a step back and a period of silence',
    async run({ ask, clock, backend }) {
      const policy = policyOf('p', slidingLog(5, '10s'));
      const start = clock.now();
      for (const at of [100, 90, 111]) {
        clock.set(start + at * SECOND);
        await ask(policy);
      }
      const { view } = backend;
      if (view !== undefined) expect(await view.entries(await view.onlyKey())).toBe(1);
      expect((await ask(policy, { cost: 0 })).strictest.remaining).toBe(4);
    },
  },
  {
    name: 'C048 takes a key whose state is gone for a fresh one',
    async run({ ask, clock, backend }) {
      for (const [name, policy] of eachAlgorithm(10, '60s')) {
        const left = async () => (await ask(policy, { key: name })).strictest.remaining;
        expect([await left(), await left(), await left()]).toEqual([9, 8, 7]);
        const { view } = backend;
        if (view !== undefined) {
          const stored = (await view.keys()).find((key) => key.includes(`:${name}}`));
          if (stored === undefined) throw new Error('no state key');
          await view.remove(stored);
          expect(await left()).toBe(9);
        }
        clock.advance(60 * SECOND);
        expect(await left()).toBe(9);
      }
    },
  },
  {
    name: 'C021 starts a period with its first check, and not with the store',
    async run({ ask, clock }) {
      clock.advance(9_500 * MILLISECOND);
      const policy = policyOf('p', fixedPeriod(5, '10s'));
      expect((await ask(policy)).strictest.resetAfter).toBe(10 * SECOND);
    },
  },
];

import { expect } from 'vitest';
import type { Decision } from '../../../src/domain.js';
import { checkOf, countAllowed, decideAll } from '../../kit/checks.js';
import { policyOf } from '../../kit/policies.js';
import { type Bench, type Case, fixedPeriod, MILLISECOND, SECOND, slidingLog } from './case.js';

/** Traffic that goes on over many periods. */
export const steadyCases: readonly Case[] = [
  {
    name: 'C013 lets a client that polls too fast in again and again, at exactly the quota',
    async run({ ask, clock }) {
      const policy = policyOf('p', slidingLog(2, '2s'));
      const allowedAt: number[] = [];
      for (let tenth = 0; tenth <= 100; tenth++) {
        if ((await ask(policy)).code !== 'OVER_QUOTA') allowedAt.push(tenth / 10);
        clock.advance(100 * MILLISECOND);
      }
      expect(allowedAt).toEqual([0, 0.1, 2, 2.1, 4, 4.1, 6, 6.1, 8, 8.1, 10]);
    },
  },
  {
    name: 'C017 begins every period with the whole quota: a check each 1000 ms',
    async run(bench) {
      const decisions = await poll(bench, () => 1000 * MILLISECOND);
      expect(countAllowed(decisions)).toBe(60);
      expectWholeQuotaOnNewPeriod(decisions);
    },
  },
  {
    name: 'C017 begins every period with the whole quota: a check each 999 to 1001 ms',
    async run(bench) {
      const decisions = await poll(bench, () => (999 + Math.random() * 2) * MILLISECOND);
      expectWholeQuotaOnNewPeriod(decisions);
    },
  },
  {
    name: 'C018 lets 500 checks a second over 8 instances pass a quota of 3000 a second',
    async run({ backend, clock }) {
      const policy = policyOf('p', fixedPeriod(3000, '1s'));
      const stores = await Promise.all(Array.from({ length: 8 }, () => backend.open(clock.now)));
      let allowed = 0;
      // 15,000 checks in 30 seconds: 40 every 80 ms, five by each instance.
      for (let sent = 0; sent < 15_000; sent += 40) {
        const five = () => Array.from({ length: 5 }, () => checkOf(policy));
        const decisions = await Promise.all(stores.map((store) => decideAll(store, five())));
        allowed += countAllowed(decisions.flat());
        clock.advance(80 * MILLISECOND);
      }
      expect(allowed).toBe(15_000);
    },
  },
  {
    name: 'C141 is true to its word: who waits for retryAfter comes in, a microsecond earlier not',
    async run({ ask, clock }) {
      const policy = policyOf('p', fixedPeriod(1, '2s'), slidingLog(1, '2s', 'name: log'));
      for (let round = 0; round < 20; round++) {
        const { code, strictest } = await ask(policy);
        expect(strictest.resetAfter).toBeGreaterThan(0);
        expect(strictest.resetAfter).toBeLessThanOrEqual(2 * SECOND);
        if (code !== 'OVER_QUOTA') {
          clock.advance(123_457);
          continue;
        }
        const wait = strictest.retryAfter ?? Number.NaN;
        clock.advance(wait - 1);
        expect((await ask(policy)).strictest).toMatchObject({ allowed: false, retryAfter: 1 });
        clock.advance(1);
      }
    },
  },
];

async function poll({ ask, clock }: Bench, wait: () => number): Promise<Decision[]> {
  const policy = policyOf('p', fixedPeriod(3, '1s'));
  const decisions: Decision[] = [];
  for (let i = 0; i < 60; i++) {
    decisions.push(await ask(policy));
    clock.advance(Math.round(wait()));
  }
  return decisions;
}

function expectWholeQuotaOnNewPeriod(decisions: readonly Decision[]): void {
  let before = 0;
  for (const { strictest } of decisions) {
    if (strictest.resetAfter > before) expect(strictest.remaining).toBe(2);
    before = strictest.resetAfter;
  }
}

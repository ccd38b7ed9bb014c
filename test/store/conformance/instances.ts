import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { loadScript } from '../../../src/store/redis/script.js';
import type { Store } from '../../../src/store/store.js';
import { checkOf, countAllowed, decide, decideAll } from '../../kit/checks.js';
import { microseconds } from '../../kit/clock.js';
import { policyOf } from '../../kit/policies.js';
import { type Bench, type Case, eachAlgorithm, fixedPeriod, MILLISECOND, SECOND } from './case.js';

/** Several processes of the service on one state. */
export const instanceCases: readonly Case[] = [
  {
    name: 'C097 counts every check of two instances whose clocks stand still at the same instant',
    async run({ store, openAnother }) {
      const other = await openAnother();
      for (const [name, policy] of eachAlgorithm(100, '60s')) {
        const sixty = () => Array.from({ length: 60 }, () => checkOf(policy, { key: name }));
        const both = await Promise.all([store, other].map((one) => decideAll(one, sixty())));
        expect(countAllowed(both.flat())).toBe(100);
      }
    },
  },
  {
    name: 'C102 lets exactly 1000 of 1200 parallel checks of one key pass, each with its own number',
    async run({ store, openAnother }) {
      const stores = [store, await openAnother(), await openAnother(), await openAnother()];
      for (const [name, policy] of eachAlgorithm(1000, '60s')) {
        const many = Array.from({ length: 1200 }, async (_, i) => {
          const one = stores[i % stores.length] ?? store;
          return decide(one, checkOf(policy, { key: name }));
        });
        const left = (await Promise.all(many))
          .filter(({ code }) => code !== 'OVER_QUOTA')
          .map(({ strictest }) => strictest.remaining);
        expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
      }
    },
  },
  {
    name: 'C139 keeps policies apart across two instances',
    async run({ store, openAnother }) {
      const other = await openAnother();
      const first = policyOf('p1', fixedPeriod(1, '1m'));
      const second = policyOf('p2', fixedPeriod(5, '1m'));
      expect((await decide(store, checkOf(first))).code).toBe('HIT_QUOTA');
      expect((await decide(other, checkOf(first))).code).toBe('OVER_QUOTA');
      expect((await decide(other, checkOf(second))).strictest.remaining).toBe(4);
      expect((await decide(store, checkOf(second))).strictest.remaining).toBe(3);
    },
  },
  {
    name: "C054 decides by the store's clock, though one instance is late and another early",
    async run(bench) {
      const { clock } = bench;
      const [a, b, c] = await openSkewed(bench, [0, -2 * SECOND, 2 * SECOND]);
      const policy = policyOf('p', fixedPeriod(5, '1m', 'align: clock'));
      const ask = async (store: Store): Promise<string> => {
        await tellTime(bench);
        const { code, strictest } = await decide(store, checkOf(policy));
        const wait = strictest.retryAfter;
        return wait === undefined ? `${code} ${strictest.remaining}` : `${code} ${wait / 1000}`;
      };
      const times = async (count: number, store: Store): Promise<string[]> => {
        const answers: string[] = [];
        for (let i = 0; i < count; i++) answers.push(await ask(store));
        return answers;
      };
      const wholeQuota = ['ALLOWED 4', 'ALLOWED 3', 'ALLOWED 2', 'ALLOWED 1', 'HIT_QUOTA 0'];

      clock.set(microseconds('2026-06-03T10:20:58.500Z'));
      expect(await times(5, a)).toEqual(wholeQuota);
      expect(await times(5, c)).toEqual(Array.from({ length: 5 }, () => 'OVER_QUOTA 1500'));
      clock.advance(2 * SECOND);
      expect(await times(5, a)).toEqual(wholeQuota);
      clock.advance(1600 * MILLISECOND);
      expect([await ask(b), await ask(a)]).toEqual(['OVER_QUOTA 57900', 'OVER_QUOTA 57900']);
    },
  },
  {
    name: 'C054 takes the calendar day from the clock of the store, not from that of an instance',
    async run(bench) {
      const { clock } = bench;
      const stores = await openSkewed(bench, [0, -20 * 3600 * SECOND, 20 * 3600 * SECOND]);
      const policy = policyOf('p', fixedPeriod(6, 'day', 'timezone: Africa/Cairo'));
      const answers = async (): Promise<number[][]> => {
        const found: number[][] = [];
        for (const store of stores) {
          await tellTime(bench);
          const { strictest } = await decide(store, checkOf(policy));
          found.push([strictest.remaining, strictest.resetAfter / SECOND]);
        }
        return found;
      };
      // The day before the clocks go forward at midnight, and the 23 hours of that day.
      clock.set(microseconds('2026-04-23T21:59:59Z'));
      expect(await answers()).toEqual([
        [5, 1],
        [4, 1],
        [3, 1],
      ]);
      clock.advance(SECOND);
      expect(await answers()).toEqual([
        [5, 82_800],
        [4, 82_800],
        [3, 82_800],
      ]);
    },
  },
];

/**
 * Stores whose own clocks are wrong, on one state whose clock is right. In memory there is one
 * process with one clock. On Redis the script is made to read its time from a key in place of TIME.
 */
async function openSkewed(
  { backend, clock, store }: Bench,
  skews: readonly [number, number, number],
): Promise<[Store, Store, Store]> {
  if (backend.kind === 'memory') return [store, store, store];
  const script = loadScript((file) =>
    readFileSync(file, 'utf8').replace("redis.call('TIME')", TOLD_TIME),
  );
  const open = (skew: number) => backend.openWithServerClock(() => clock.now() + skew, script);
  return [await open(skews[0]), await open(skews[1]), await open(skews[2])];
}

/** Seconds and microseconds, as TIME has them; the latter from a key in the slot of the state. */
const TOLD_TIME = "{ 0, redis.call('GET', string.match(KEYS[1], '^.-}') .. ':time') }";

/** Puts the clock of the store where that of the bench stands, for policy `p` and key `k`. */
async function tellTime({ backend, clock }: Bench): Promise<void> {
  await backend.view?.write('{p:k}:time', `${clock.now()}`);
}

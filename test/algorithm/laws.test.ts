import fc from 'fast-check';
import { test } from 'vitest';
import type { Decision, Policy } from '../../src/domain.js';
import { checkOf, decide } from '../kit/checks.js';
import { createTestClock } from '../kit/clock.js';
import { createUnsweptMemoryStore } from '../kit/memory.js';
import { type Program, play, policyOfRun, programs } from '../kit/programs.js';

const PROGRAMS = 500;
const STEPS = 15;

/** What a law gets to see: one check that was asked, and the means to ask more. */
interface Scene {
  policy: Policy;
  decision: Decision;
  before: Decision;
  /** Asks again on the same key after so many microseconds. */
  askAfter(wait: number, cost: number): Promise<Decision>;
}

/** Runs a law on every check of many random programs, with clocks that step back. */
async function holds(law: (scene: Scene) => Promise<void> | void): Promise<void> {
  const clock = createTestClock();
  const store = createUnsweptMemoryStore(clock.now);
  let runs = 0;
  const run = async (program: Program): Promise<void> => {
    const policy = policyOfRun(program, ++runs);
    for (const checks of play(program, clock)) {
      for (const { key, cost } of checks) {
        const before = await decide(store, checkOf(policy, { key, cost: 0 }));
        const decision = await decide(store, checkOf(policy, { key, cost }));
        const askAfter = (more: number, again: number): Promise<Decision> => {
          clock.advance(more);
          return decide(store, checkOf(policy, { key, cost: again }));
        };
        await law({ policy, decision, before, askAfter });
      }
    }
  };
  await fc.assert(fc.asyncProperty(programs(STEPS), run), { numRuns: PROGRAMS });
  await store.close();
}

test('a denial changes nothing, unless denied attempts count', () =>
  holds(async ({ policy, decision, before, askAfter }) => {
    if (decision.code !== 'OVER_QUOTA') return;
    const after = await askAfter(0, 0);
    for (const [i, limit] of policy.limits.entries()) {
      if (limit.countDenied) continue;
      wanted('same', numbersOf(before, i) === numbersOf(after, i), [before, after]);
      const denied = decision.limits[i];
      const told = denied?.remaining === before.limits[i]?.remaining;
      wanted('uncharged numbers', told, [before, decision]);
    }
  }));

test('who is denied comes in after retryAfter exactly, and not a microsecond before', () =>
  holds(async ({ policy, decision, askAfter }) => {
    const { retryAfter, allowed } = decision.strictest;
    wanted('a wait on denials only', allowed === (decision.code !== 'OVER_QUOTA'), decision);
    if (allowed || retryAfter === undefined) {
      wanted('no wait', retryAfter === undefined, decision);
      return;
    }
    const { cost } = decision.check;
    let left = retryAfter;
    // Where attempts count, trying too early would make the wait longer.
    if (!policy.limits.some(({ countDenied }) => countDenied)) {
      const early = await askAfter(left - 1, cost);
      wanted('denied a microsecond early', early.code === 'OVER_QUOTA', [decision, early]);
      wanted('one microsecond left', early.strictest.retryAfter === 1, [decision, early]);
      left = 1;
    }
    const onTime = await askAfter(left, cost);
    wanted('allowed on time', onTime.code !== 'OVER_QUOTA', [decision, onTime]);
  }));

test('what can never pass has no wait, and everything else that is denied has one', () =>
  holds(({ decision }) => {
    for (const { limit, allowed, retryAfter } of decision.limits) {
      const never = decision.check.cost > limit.quota;
      wanted('denied', !(never && allowed), decision);
      wanted('a wait', (retryAfter !== undefined) === (!allowed && !never), decision);
    }
  }));

test('remaining is from 0 to the quota, times are not negative, and all are safe integers', () =>
  holds(({ decision }) => {
    for (const { limit, remaining, resetAfter, retryAfter = 1 } of decision.limits) {
      const safe = [remaining, resetAfter, retryAfter].every((n) => Number.isSafeInteger(n));
      wanted('safe integers', safe, decision);
      wanted('a remaining in bounds', remaining >= 0 && remaining <= limit.quota, decision);
      wanted('times', resetAfter >= 0 && retryAfter >= 1, decision);
      wanted('a reset if units are used', remaining === limit.quota || resetAfter > 0, decision);
    }
  }));

test('after resetAfter a key is as new, and not a microsecond before', () =>
  holds(async ({ decision, askAfter }) => {
    const last = Math.max(...decision.limits.map(({ resetAfter }) => resetAfter));
    if (last === 0) return;
    const early = await askAfter(last - 1, 0);
    wanted('still used', early.limits.some(isUsed), [decision, early]);
    const late = await askAfter(1, 0);
    wanted('as new', !late.limits.some(isUsed), [decision, late]);
  }));

test('an allowed check takes exactly its cost of every limit', () =>
  holds(({ decision, before }) => {
    if (decision.code === 'OVER_QUOTA') return;
    for (const [i, { remaining }] of decision.limits.entries()) {
      const was = before.limits[i]?.remaining ?? Number.NaN;
      wanted('the cost taken', remaining === was - decision.check.cost, [before, decision]);
    }
  }));

function isUsed({ limit, remaining, resetAfter }: Decision['strictest']): boolean {
  return remaining < limit.quota || resetAfter > 0;
}

function numbersOf({ limits }: Decision, i: number): string {
  return `${limits[i]?.remaining} until ${limits[i]?.resetAfter}`;
}

/** `expect` would take longer than all the rest. */
function wanted(what: string, holds: boolean, seen: unknown): void {
  if (!holds) throw new Error(`wanted: ${what}; seen: ${JSON.stringify(seen)}`);
}

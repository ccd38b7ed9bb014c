import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf } from '../kit/checks.js';
import { createTestClock } from '../kit/clock.js';
import { type Program, play, policyOfRun, programs } from '../kit/programs.js';
import { createBackend, STORES } from '../kit/stores.js';

const PROGRAMS = 350;
const STEPS = 20;

test('memory, Redis and Cluster give the same outcomes to random programs, step by step', async () => {
  const clock = createTestClock();
  const backends = STORES.map(createBackend);
  const stores = await Promise.all(backends.map((backend) => backend.open(clock.now)));
  let runs = 0;

  const run = async (program: Program): Promise<void> => {
    const policy = policyOfRun(program, ++runs);
    for (const checks of play(program, clock)) {
      const asked = checks.map((check) => checkOf(policy, check));
      const [memory, ...others] = await Promise.all(stores.map((store) => store.decide(asked)));
      expect(memory?.every(({ kind }) => kind === 'decided')).toBe(true);
      for (const other of others) expect(other).toEqual(memory);
    }
  };

  try {
    await fc.assert(fc.asyncProperty(programs(STEPS), run), { numRuns: PROGRAMS });
  } finally {
    await Promise.all(backends.map((backend) => backend.close()));
  }
});

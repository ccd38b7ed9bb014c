import fc from 'fast-check';
import type { Policy } from '../../src/domain.js';
import type { Store } from '../../src/store/store.js';
import { checkOf } from '../kit/checks.js';
import type { TestClock } from '../kit/clock.js';
import { createUnsweptMemoryStore } from '../kit/memory.js';
import { policyOf } from '../kit/policies.js';
import { play, policyOfRun, programs } from '../kit/programs.js';
import { readVectors } from '../vectors/vectors.js';

/** Always the same programs, so that what is caught today is caught tomorrow. */
const SAMPLE = { seed: 20_260_603, numRuns: 150 };

interface Play {
  policy: Policy;
  start: number;
  steps: readonly { wait: number; checks: readonly { key: string; cost: number; id?: string }[] }[];
}

/** Programs that meet every branch of the scripts: the vectors, and random ones. */
export const PLAYS: readonly Play[] = [
  ...['fixed-period', 'sliding-log'].flatMap(playsOfVectors),
  ...fc
    .sample(programs(20), SAMPLE)
    .map((program, i): Play => ({ ...program, policy: policyOfRun(program, i) })),
];

function playsOfVectors(name: string): Play[] {
  return readVectors(name).sequences.map(({ limit, start, checks }, i) => ({
    policy: policyOf(`${name}-${i}`, JSON.stringify(limit)),
    start: Date.parse(start) * 1000,
    steps: checks.map(({ at, key, cost }, n) => ({
      wait: Math.round((at - (checks[n - 1]?.at ?? 0)) * 1000),
      checks: [{ key, cost }],
    })),
  }));
}

/** Plays them on a store and on memory, and tells of the first difference. */
export async function findDifference(store: Store, clock: TestClock): Promise<string | undefined> {
  const memory = createUnsweptMemoryStore(clock.now);
  for (const one of PLAYS) {
    const { policy } = one;
    for (const checks of play(one, clock)) {
      const asked = checks.map((check) => checkOf(policy, check));
      const [right, seen] = await Promise.all([memory.decide(asked), store.decide(asked)]);
      const [wanted, got] = [JSON.stringify(right), JSON.stringify(seen)];
      if (wanted !== got) return `${policy.name} wanted ${wanted}, got ${got}`;
    }
  }
  return undefined;
}

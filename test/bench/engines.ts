import { Redis } from 'ioredis';
import { createSystemClock } from '../../src/clock.js';
import type { Policy } from '../../src/domain.js';
import { createMemoryStore } from '../../src/store/memory/memory.js';
import { createRedisStore } from '../../src/store/redis/redis.js';
import { loadScript } from '../../src/store/redis/script.js';
import type { Store } from '../../src/store/store.js';
import { newCheckId } from '../../src/transport/wire/ids.js';
import { policiesFrom } from '../kit/policies.js';
import { type AlgorithmName, POLICIES } from './workload.js';

export interface EngineRow {
  engine: string;
  algorithm: string;
  keys: number;
  waiting: number;
  perSecond: number;
  /** Microseconds, in the order of repetition: the middle one. */
  each: number;
}

const policies = policiesFrom(POLICIES);

/** Checks a second of a store without any transport; `waiting` of them at any time. */
async function rate(
  store: Store,
  policy: Policy,
  { keys, waiting, seconds, run }: { keys: number; waiting: number; seconds: number; run: string },
): Promise<number> {
  let asked = 0;
  let wrong = 0;
  const end = performance.now() + seconds * 1000;
  const started = performance.now();
  const loop = async (): Promise<void> => {
    while (performance.now() < end) {
      const key = `${run}-${(asked++ * 7919) % keys}`;
      const [outcome] = await store.decide([
        { kind: 'check', policy, key, cost: 1, id: newCheckId() },
      ]);
      if (outcome?.kind !== 'decided' || !outcome.limits[0]?.allowed) wrong++;
    }
  };
  await Promise.all(Array.from({ length: waiting }, loop));
  if (wrong > 0) throw new Error(`${wrong} of ${asked} checks were not allowed`);
  return asked / ((performance.now() - started) / 1000);
}

function policyOf(algorithm: AlgorithmName): Policy {
  const policy = policies.get(`${algorithm}-open`);
  if (policy === undefined) throw new Error(`no policy for ${algorithm}`);
  return policy;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The stores alone, and a bare EVALSHA beside the Redis store at one check at a time. */
export async function measureEngines(redis: { host: string; port: number }): Promise<EngineRow[]> {
  const clock = createSystemClock();
  const rows: EngineRow[] = [];
  const add = (
    engine: string,
    algorithm: string,
    keys: number,
    waiting: number,
    rates: number[],
  ) => {
    const perSecond = median(rates);
    rows.push({ engine, algorithm, keys, waiting, perSecond, each: 1e6 / perSecond });
  };
  let runs = 0;
  const repeat = async (measure: (run: string) => Promise<number>): Promise<number[]> => {
    await measure(`warm-${runs++}`);
    const rates: number[] = [];
    for (let i = 0; i < 3; i++) rates.push(await measure(`run-${runs++}`));
    return rates;
  };

  for (const algorithm of ['fixed-period', 'sliding-log'] as const) {
    for (const keys of [1, 10_000]) {
      const store = createMemoryStore({ clock, maxKeys: 1_000_000 });
      // A sliding log of one key would be full before the second is over.
      const many = algorithm === 'sliding-log' ? Math.max(keys, 100) : keys;
      const rates = await repeat((run) =>
        rate(store, policyOf(algorithm), { keys: many, waiting: 1, seconds: 1, run }),
      );
      add('memory', algorithm, many, 1, rates);
      await store.close();
    }
  }

  const store = createRedisStore({
    settings: { mode: 'single', nodes: [redis], database: 0, prefix: 'bench', timeoutMs: 5000 },
    clock,
  });
  const client = new Redis({ ...redis, lazyConnect: true });
  await client.connect();
  while (!store.health().up) await new Promise((resolve) => setTimeout(resolve, 10));

  for (const algorithm of ['fixed-period', 'sliding-log'] as const) {
    for (const keys of [1, 10_000]) {
      for (const waiting of [1, 64, 256]) {
        const many = algorithm === 'sliding-log' ? Math.max(keys, 100) : keys;
        const rates = await repeat((run) =>
          rate(store, policyOf(algorithm), { keys: many, waiting, seconds: 1, run }),
        );
        add('redis', algorithm, many, waiting, rates);
      }
    }
  }
  // In turn, so that all meet the same machine.
  const contenders = (await bareCalls(client)).map(([name, call]) => ({
    name,
    measure: () => bareRate(call),
    rates: [] as number[],
  }));
  const options = { keys: 1, waiting: 1, seconds: 0.7, run: 'turns' };
  contenders.push({
    name: 'redis, in turn with them',
    measure: () => rate(store, policyOf('fixed-period'), options),
    rates: [],
  });
  for (let turn = 0; turn < 8; turn++) {
    for (const { measure, rates } of contenders) rates.push(await measure());
  }
  // The first turn warms them up.
  for (const { name, rates } of contenders) add(name, 'fixed-period', 1, 1, rates.slice(1));
  client.disconnect();
  await store.close();
  return rows;
}

/** One EVALSHA after the other without a store: the shortest script that counts, and Sluice's own. */
async function bareCalls(client: Redis): Promise<[name: string, () => Promise<unknown>][]> {
  const incr = String(await client.script('LOAD', "return redis.call('INCR', KEYS[1])"));
  const { sha } = loadScript();
  const policy = JSON.stringify([{ algorithm: 'fixed-period', quota: 1e9, period: 86_400e6 }]);
  const question = `[false,0,[${policy}],1,1,1,false]`;
  return [
    ['bare EVALSHA of an INCR', () => client.evalsha(incr, 1, 'bench:incr')],
    ['bare EVALSHA of the same script', () => client.evalsha(sha, 1, 'bench:script', question)],
  ];
}

async function bareRate(call: () => Promise<unknown>): Promise<number> {
  let done = 0;
  const started = performance.now();
  while (performance.now() < started + 700) {
    await call();
    done++;
  }
  return done / ((performance.now() - started) / 1000);
}

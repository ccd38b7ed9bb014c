import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { loadScript, type Script } from '../../src/store/redis/script.js';
import type { Store } from '../../src/store/store.js';
import { checkOf, decide } from '../kit/checks.js';
import { createTestClock, microseconds } from '../kit/clock.js';
import { policyOf } from '../kit/policies.js';
import { openRedisStore } from '../kit/ready.js';
import { redisSettings } from '../kit/redis-settings.js';
import { viewRedis } from '../kit/redis-view.js';
import { eachAlgorithm, fixedPeriod, MILLISECOND, SECOND, slidingLog } from './conformance/case.js';
import { findDifference } from './differential.js';
import { MUTANTS } from './mutants.js';

test('the scripts as they are pass the checks by which mutants are caught', async () => {
  expect(await findFault(loadScript())).toBeUndefined();
});

for (const { file, from, to, breaks } of MUTANTS) {
  test(`${file}: ${JSON.stringify(from)} as ${JSON.stringify(to)} breaks ${breaks}`, async () => {
    let found = 0;
    const script = loadScript((path) => {
      const text = readFileSync(path, 'utf8');
      if (!path.pathname.endsWith(`/${file}`)) return text;
      found = text.split(from).length - 1;
      return text.replace(from, () => to);
    });
    expect(found, 'how often the text to change is there').toBe(1);
    expect(await findFault(script), 'the fault that gives it away').toBeDefined();
  });
}

/** The first fault of a script, as compared with memory and with what Redis should hold. */
async function findFault(script: Script): Promise<string | undefined> {
  const settings = redisSettings({ nodes: [inject('redis')] });
  const clock = createTestClock();
  const stores: Store[] = [];
  const open = async (graceMs: number, serverClock = false): Promise<Store> => {
    const store = await openRedisStore({
      settings,
      clock: clock.now,
      serverClock,
      graceMs,
      script,
    });
    stores.push(store);
    return store;
  };
  const view = viewRedis(settings);
  try {
    return (
      (await findDifference(await open(3_600_000), clock)) ??
      (await findWrongExpiry()) ??
      (await findWrongClock())
    );
  } catch (error) {
    return String(error);
  } finally {
    view.close();
    await Promise.all(stores.map((store) => store.close()));
  }

  /** Looks at the time to live of what checks of known state leave behind. */
  async function findWrongExpiry(): Promise<string | undefined> {
    clock.set(microseconds('2026-06-03T10:20:30Z'));
    const [none, some] = [await open(0), await open(100_000)];
    for (const [key, policy] of eachAlgorithm(5, '60s')) {
      await decide(some, checkOf(policy, { key, cost: 2 }));
      await decide(some, checkOf(policy, { key }));
      const fault = await ttlFault(key, 160_000);
      if (fault !== undefined) return fault;
    }
    const log = policyOf('p', slidingLog(5, '60s', 'countDenied: true'));
    await decide(none, checkOf(log, { key: 'back' }));
    clock.advance(-20 * SECOND);
    for (let i = 0; i < 6; i++) await decide(none, checkOf(log, { key: 'back' }));
    const fault = await ttlFault('back', 80_000);
    if (fault !== undefined) return fault;
    const entries = await view.entries(await stateKey('back'));
    if (entries > 5) return `${entries} entries in a log of 5`;
    // A period of which less than a millisecond is left.
    clock.advance(MILLISECOND / 2);
    await decide(none, checkOf(policyOf('p', fixedPeriod(5, '1ms', 'align: clock'))));
    return undefined;
  }

  async function ttlFault(key: string, wantedMs: number): Promise<string | undefined> {
    const ttl = await view.ttlMs(await stateKey(key));
    return ttl > wantedMs || ttl < wantedMs - 10_000 ? `${key} lives for ${ttl} ms` : undefined;
  }

  async function stateKey(key: string): Promise<string> {
    const found = (await view.keys()).find((name) => name.includes(`:${key}}`));
    if (found === undefined) throw new Error(`no state of ${key}`);
    return found;
  }

  /** The year ends when it does, by the clock of the server. */
  async function findWrongClock(): Promise<string | undefined> {
    clock.set(Date.now() * 1000);
    const policy = policyOf('p', fixedPeriod(5, 'year'));
    const { strictest } = await decide(await open(0, true), checkOf(policy));
    const end = Date.UTC(new Date().getUTCFullYear() + 1, 0, 1);
    const off = Date.now() + strictest.resetAfter / 1000 - end;
    return Math.abs(off) > 60_000 ? `the clock is ${off} ms off` : undefined;
  }
}

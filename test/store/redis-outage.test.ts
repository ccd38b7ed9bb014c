import { afterEach, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../src/clock.js';
import { createRedisStore } from '../../src/store/redis/redis.js';
import type { Store } from '../../src/store/store.js';
import { checkOf, decide, decideAll } from '../kit/checks.js';
import {
  askTogether,
  countFailures,
  reasonsOf,
  SLACK_MS,
  slowestMs,
  startLoad,
} from '../kit/load.js';
import { openServiceStore } from '../kit/own-redis.js';
import { policyOf } from '../kit/policies.js';
import { randomPrefix, redisSettings } from '../kit/redis-settings.js';
import { until } from '../kit/until.js';
import { startProxy } from '../redis/proxy.js';
import { type Address, type RedisProcess, startRedis } from '../redis/servers.js';
import { fixedPeriod, slidingLog } from './conformance/case.js';

const HASTY_MS = 100;

const policy = policyOf('p', slidingLog(100, '600s'));

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function openRedis(...args: Parameters<typeof startRedis>): Promise<RedisProcess> {
  const redis = await startRedis(...args);
  cleanups.push(() => redis.stop());
  return redis;
}

function closeLater<S extends Store>(store: S): S {
  cleanups.push(() => store.close());
  return store;
}

/** How many script calls the server has run. */
async function scriptCalls({ client }: RedisProcess): Promise<number> {
  const stats = await client.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

async function remaining(store: Store): Promise<number> {
  return (await decide(store, checkOf(policy, { cost: 0 }))).strictest.remaining;
}

/** A store that gives up soon, and one on the same state that has patience. */
async function openTwo(
  address: Address,
  redis: Address,
): Promise<{ hasty: Store; patient: Store }> {
  const prefix = randomPrefix();
  const hasty = closeLater(await openServiceStore(address, { prefix, timeoutMs: HASTY_MS }));
  return { hasty, patient: closeLater(await openServiceStore(redis, { prefix })) };
}

/** The first decision of the store, by peeks that charge nothing. */
function decidesAgain(store: Store): Promise<unknown> {
  return until('the store decides again', async () => {
    const [outcome] = await store.decide([checkOf(policy, { cost: 0 })]);
    return outcome?.kind === 'decided';
  });
}

describe('a Redis that is silent', () => {
  test('C116 costs every check its time-out and no more, and is used again without a restart', async () => {
    const redis = await openRedis();
    const { hasty, patient } = await openTwo(redis, redis);
    await decide(patient, checkOf(policy));
    redis.pause();
    const together = await askTogether(
      hasty,
      Array.from({ length: 200 }, (_, i) => checkOf(policy, { key: `${i}` })),
    );
    expect(countFailures(together)).toBe(200);
    expect(reasonsOf(together)).toEqual(['timeout']);
    expect(slowestMs(together)).toBeLessThan(HASTY_MS + SLACK_MS);

    // Until the connection has been given up, and beyond.
    const load = startLoad(hasty, 20, () => checkOf(policy, { key: 'during' }));
    await until('the store noticed', () => !hasty.health().up);
    await until('some more failures', () => load.answers.length > 200);
    const during = await load.stop();
    expect(countFailures(during)).toBe(during.length);
    expect(reasonsOf(during).every((reason) => /timeout|unavailable/.test(reason))).toBe(true);
    expect(slowestMs(during)).toBeLessThan(HASTY_MS + SLACK_MS);

    redis.resume();
    await decidesAgain(hasty);
    expect(await remaining(patient)).toBe(99);
  });

  test('C117 is not charged afterwards for checks that were answered meanwhile', async () => {
    const redis = await openRedis();
    const { hasty, patient } = await openTwo(redis, redis);
    await decidesAgain(hasty);
    const before = await scriptCalls(redis);
    redis.pause();
    const checks = Array.from({ length: 200 }, () => checkOf(policy));
    expect(reasonsOf(await askTogether(hasty, checks))).toEqual(['timeout']);
    await until('the store noticed', () => !hasty.health().up);
    redis.resume();
    await until('the store is back', () => hasty.health().up);
    // One, and a second batch of sixteen, had left before anybody could know; none of the others ever did.
    expect((await scriptCalls(redis)) - before).toBeLessThanOrEqual(2);
    expect(await remaining(patient)).toBeGreaterThanOrEqual(100 - 17);
  });

  test('C118 gives an outcome of the same kind as a Redis that is gone: no decision', async () => {
    const redis = await openRedis();
    const store = closeLater(await openServiceStore(redis, { timeoutMs: 50 }));
    redis.pause();
    const [silent] = await store.decide([checkOf(policy)]);
    expect(silent).toMatchObject({ kind: 'failure', reason: 'timeout' });
    await redis.kill();
    await until('the store noticed', () => !store.health().up);
    const [gone] = await store.decide([checkOf(policy)]);
    expect(gone).toMatchObject({ kind: 'failure', reason: 'unavailable' });
  });
});

describe('a Redis that is gone', () => {
  test('fails every check at once, and is used again as soon as it is back', async () => {
    const redis = await openRedis();
    const timeoutMs = 1000;
    const store = closeLater(await openServiceStore(redis, { timeoutMs }));
    await decide(store, checkOf(policy));
    await redis.kill();
    await until('the store noticed', () => !store.health().up);
    const checks = Array.from({ length: 200 }, () => checkOf(policy));
    const answers = await askTogether(store, checks);
    expect(countFailures(answers)).toBe(200);
    expect(reasonsOf(answers)).toEqual(['unavailable']);
    expect(slowestMs(answers)).toBeLessThan(SLACK_MS);

    await redis.start();
    await decidesAgain(store);
    // It had saved nothing, and nothing of the outage was sent to it.
    expect(await remaining(store)).toBe(100);
  });

  test('C112 is killed under load: every check is answered in time, and the load goes on', async () => {
    const redis = await openRedis();
    const timeoutMs = 250;
    const store = closeLater(await openServiceStore(redis, { timeoutMs }));
    const load = startLoad(store, 20, () => checkOf(policy));
    await until('some decisions', () => load.answers.length > 200);
    await redis.kill();
    await until('some failures', () => countFailures(load.answers) > 200);
    await redis.start();
    await decidesAgain(store);
    const count = load.answers.length;
    await until('some more decisions', () => load.answers.length > count + 200);
    const answers = await load.stop();
    expect(slowestMs(answers)).toBeLessThan(timeoutMs + SLACK_MS);
    expect(countFailures(answers.slice(-100))).toBe(0);
  });

  test('C104 may come later than the store, which then decides without a restart', async () => {
    const redis = await openRedis();
    await redis.kill();
    const settings = redisSettings({ nodes: [redis] });
    const store = closeLater(createRedisStore({ settings, clock: createSystemClock() }));
    const ten = Array.from({ length: 10 }, () => checkOf(policy));
    expect(reasonsOf(await askTogether(store, ten))).toEqual(['unavailable']);
    await until('the store knows why', () => store.health().detail.includes('ECONNREFUSED'));
    expect(store.health().up).toBe(false);

    await redis.start();
    await until('the store is up', () => store.health().up);
    const decisions = await decideAll(
      store,
      Array.from({ length: 5 }, () => checkOf(policy)),
    );
    expect(decisions.map(({ strictest }) => strictest.remaining)).toEqual([99, 98, 97, 96, 95]);
  });
});

describe('a reply that is lost', () => {
  test('C105 fails its check, which is charged once and never sent again', async () => {
    const redis = await openRedis();
    const proxy = await startProxy(redis);
    cleanups.push(() => proxy.stop());
    const { hasty, patient } = await openTwo(proxy, redis);
    await decidesAgain(hasty);
    const before = await scriptCalls(redis);
    proxy.loseReplies();
    const [answer] = await askTogether(hasty, [checkOf(policy)]);
    expect(answer?.outcome).toMatchObject({ kind: 'failure', reason: 'timeout' });
    expect(answer?.tookMs).toBeLessThan(HASTY_MS + SLACK_MS);
    await until('the silent connection is given up', () => !hasty.health().up);
    proxy.restore();
    await until('the store is back', () => hasty.health().up);
    expect((await scriptCalls(redis)) - before).toBe(1);
    expect(await remaining(patient)).toBe(99);
  });
});

describe('a Redis that refuses', () => {
  test('the password is told from one that is gone, and takes the right one', async () => {
    const redis = await openRedis([], { password: 'right' });
    const open = (password: string | undefined) => {
      const given = password === undefined ? {} : { password };
      const settings = redisSettings({ nodes: [redis], ...given });
      return closeLater(createRedisStore({ settings, clock: createSystemClock() }));
    };
    for (const password of ['wrong', undefined]) {
      const store = open(password);
      await until('the store knows why', () => store.health().detail.includes('password'));
      expect(store.health()).toMatchObject({ up: false });
      expect(store.health().detail).not.toContain('wrong (');
      const answers = await askTogether(store, [checkOf(policy)]);
      expect(countFailures(answers)).toBe(1);
      expect(slowestMs(answers)).toBeLessThan(SLACK_MS);
    }
    const right = open('right');
    await until('the store is up', () => right.health().up);
    expect((await decide(right, checkOf(policy))).strictest.remaining).toBe(99);
  });

  test('to be a Cluster is told so', async () => {
    const redis = await openRedis();
    const settings = redisSettings({ mode: 'cluster', nodes: [redis] });
    const store = closeLater(createRedisStore({ settings, clock: createSystemClock() }));
    await until('the store knows why', () => store.health().detail.includes('no Cluster'));
    expect(store.health().up).toBe(false);
    const answers = await askTogether(store, [checkOf(policy), checkOf(policy)]);
    expect(reasonsOf(answers)).toEqual(['unavailable']);
    expect(slowestMs(answers)).toBeLessThan(SLACK_MS);
  });

  test('writes, being a replica, is told so, and is used again once it is no replica', async () => {
    const [primary, redis] = [await openRedis(), await openRedis()];
    const store = closeLater(await openServiceStore(redis));
    await decide(store, checkOf(policy));
    await redis.client.replicaof(primary.host, primary.port);
    await until('the server is a replica', async () => {
      const [outcome] = await store.decide([checkOf(policy, { cost: 1 })]);
      return outcome?.kind === 'failure' && outcome.reason === 'refused';
    });
    await redis.client.replicaof('NO', 'ONE');
    await decidesAgain(store);
    expect((await decide(store, checkOf(policy))).code).toBe('ALLOWED');
  });
});

test('C114 the database stays the one that was asked for when connections break', async () => {
  const redis = await openRedis();
  const store = closeLater(await openServiceStore(redis, { database: 1 }));
  const thousand = policyOf('thousand', fixedPeriod(1000, '600s'));
  for (const left of [900, 800, 700]) {
    const checks = Array.from({ length: 100 }, () => checkOf(thousand));
    const decisions = await decideAll(store, checks);
    expect(decisions.at(-1)?.strictest.remaining).toBe(left);
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until('the store noticed', () => !store.health().up);
    await until('the store is back', () => store.health().up);
  }
  expect(await redis.client.dbsize()).toBe(0);
});

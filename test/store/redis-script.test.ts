import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Policy } from '../../src/domain.js';
import type { Store } from '../../src/store/store.js';
import { checkOf, decide, decideAll } from '../kit/checks.js';
import { askTogether, countFailures, reasonsOf, startLoad } from '../kit/load.js';
import { openServiceStore } from '../kit/own-redis.js';
import { policyOf } from '../kit/policies.js';
import { redisSettings } from '../kit/redis-settings.js';
import { viewRedis } from '../kit/redis-view.js';
import { until } from '../kit/until.js';
import { type RedisProcess, startRedis } from '../redis/servers.js';
import { eachAlgorithm, fixedPeriod, slidingLog } from './conformance/case.js';

/** A server of our own, since these tests do things to it that others would notice. */
let redis: RedisProcess;
let store: Store;

beforeAll(async () => {
  redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
  store = await openServiceStore(redis);
});
afterAll(async () => {
  await store.close();
  await redis.stop();
});

function many(policy: Policy, count: number, key = 'k') {
  return Array.from({ length: count }, () => checkOf(policy, { key }));
}

describe('the script cache', () => {
  test('C103 may be lost at any time, and still each check counts once', async () => {
    const policy = policyOf('flushed', slidingLog(1000, '600s'));
    await decideAll(store, many(policy, 50));
    await redis.client.script('FLUSH', 'SYNC');
    await decideAll(store, many(policy, 50));
    await redis.client.script('FLUSH', 'SYNC');
    const last = await Promise.all(many(policy, 20).map((check) => decide(store, check)));
    expect(Math.min(...last.map(({ strictest }) => strictest.remaining))).toBe(880);

    await redis.kill();
    await until('the store noticed', () => !store.health().up);
    await redis.start();
    await until('the store is back', () => store.health().up);
    expect((await decide(store, checkOf(policy))).strictest.remaining).toBe(879);
  });

  test('C103 is lost again and again under load, and no check fails or counts twice', async () => {
    const policy = policyOf('flushed-under-load', fixedPeriod(1_000_000, '600s'));
    const load = startLoad(store, 20, () => checkOf(policy));
    for (let i = 0; i < 30; i++) {
      await redis.client.script('FLUSH', 'ASYNC');
      await until('some more checks', () => load.answers.length > i * 50);
    }
    const answers = await load.stop();
    expect(reasonsOf(answers)).toEqual([]);
    const peek = await decide(store, checkOf(policy, { cost: 0 }));
    expect(peek.strictest.remaining).toBe(1_000_000 - answers.length);
  });

  test('is filled by one EVAL, and after that a check is one EVALSHA', async () => {
    const policy = policyOf('counted', fixedPeriod(5, '1s'), slidingLog(5, '1s', 'name: b'));
    await redis.client.script('FLUSH', 'SYNC');
    await redis.client.config('RESETSTAT');
    for (let i = 0; i < 10; i++) await decide(store, checkOf(policy, { key: `${i}` }));
    const stats = await redis.client.info('commandstats');
    expect(stats).toMatch(/cmdstat_eval:calls=1,/);
    expect(stats).toMatch(/cmdstat_evalsha:calls=10,/);
  });
});

describe('a state key that holds something else', () => {
  test('fails its own check and leaves the others of the batch alone', async () => {
    const settings = redisSettings({ nodes: [redis] });
    const own = await openServiceStore(redis, settings);
    const view = viewRedis(settings);
    for (const [name, policy] of eachAlgorithm(5, '600s')) {
      const key = `broken ${name}`;
      await decide(own, checkOf(policy, { key }));
      const stored = (await view.keys()).find((one) => one.includes('broken')) ?? '';
      await redis.client.del(stored);
      await redis.client.hset(stored, 'not', 'ours');
      const checks = ['a', key, 'b', key, 'c'].map((one) => checkOf(policy, { key: one }));
      const outcomes = await own.decide([checkOf(policy, { key: 'first' }), ...checks]);
      expect(outcomes.map(({ kind }) => kind)).toEqual([
        ...['decided', 'decided', 'failure', 'decided', 'failure', 'decided'],
      ]);
      expect(outcomes[2]).toMatchObject({ reason: 'bad_state' });
      await redis.client.del(stored);
    }
    const period = policyOf('fixed', fixedPeriod(5, '600s'));
    await decide(own, checkOf(period, { key: 'text' }));
    const stored = (await view.keys()).find((one) => one.includes('text')) ?? '';
    await redis.client.set(stored, '12');
    expect(await own.decide([checkOf(period, { key: 'text' })])).toMatchObject([
      { kind: 'failure', reason: 'bad_state' },
    ]);
    expect(await redis.client.get(stored)).toBe('12');

    const two = policyOf('two', fixedPeriod(5, '600s'), fixedPeriod(5, '600s', 'name: second'));
    await decide(own, checkOf(two, { key: 'half' }));
    const second = (await view.keys()).find((one) => /half.*second/.test(one)) ?? '';
    const kept = (await redis.client.get(second)) ?? '';
    await redis.client.set(second, '12');
    const checks = ['before', 'half', 'after', 'half'].map((key) => checkOf(two, { key }));
    const outcomes = await own.decide([checkOf(two, { key: 'first' }), ...checks]);
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      ...['decided', 'decided', 'failure', 'decided', 'failure'],
    ]);
    await redis.client.set(second, kept);
    expect((await decide(own, checkOf(two, { key: 'half', cost: 0 }))).limits).toMatchObject([
      { remaining: 4 },
      { remaining: 4 },
    ]);
    view.close();
    await own.close();
  });
});

describe('C121 a Redis without memory', () => {
  afterAll(async () => {
    await redis.client.config('SET', 'maxmemory', '0');
  });

  test('fails what would write, answers what would not, and counts exactly what it answered', async () => {
    const two = policyOf(
      'full',
      fixedPeriod(50, '600s', 'name: a'),
      slidingLog(50, '600s', 'name: b'),
    );
    const spent = policyOf('spent', slidingLog(1, '600s'));
    await decideAll(store, many(two, 10, 'old'));
    await decideAll(store, many(spent, 1));
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.client.config('SET', 'maxmemory', '1mb');

    const full = await askTogether(store, [...many(two, 20, 'old'), ...many(two, 20, 'new')]);
    expect(reasonsOf(full)).toEqual(['out_of_memory']);
    expect(countFailures(full)).toBe(40);
    expect((await decide(store, checkOf(spent))).code).toBe('OVER_QUOTA');
    const peek = await decide(store, checkOf(two, { key: 'old', cost: 0 }));
    expect(peek.limits.map(({ remaining }) => remaining)).toEqual([40, 40]);

    await redis.client.config('SET', 'maxmemory', '0');
    for (const [key, left] of [
      ['old', 39],
      ['new', 49],
    ] as const) {
      const decision = await decide(store, checkOf(two, { key }));
      expect(decision.limits.map(({ remaining }) => remaining)).toEqual([left, left]);
    }
  });

  test('charges all limits of a check or none while memory comes to its end', async () => {
    const policy = policyOf(
      'filling',
      fixedPeriod(900, '600s', 'name: a'),
      slidingLog(900, '600s', 'name: b'),
    );
    const used = /used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1];
    await redis.client.config('SET', 'maxmemory', Number(used) + 150_000);
    const answered = new Map<string, number>();
    let failures = 0;
    for (let round = 0; round < 300 && failures < 200; round++) {
      const keys = Array.from({ length: 50 }, (_, i) => `${(round * 7 + i) % 150}`);
      const answers = await askTogether(
        store,
        keys.map((key) => checkOf(policy, { key })),
      );
      failures += countFailures(answers);
      for (const { check, outcome } of answers) {
        if (outcome.kind === 'decided') answered.set(check.key, (answered.get(check.key) ?? 0) + 1);
      }
    }
    expect(failures).toBeGreaterThan(0);
    await redis.client.config('SET', 'maxmemory', '0');
    for (const [key, count] of answered) {
      const { limits } = await decide(store, checkOf(policy, { key, cost: 0 }));
      expect(limits.map(({ remaining }) => 900 - remaining)).toEqual([count, count]);
    }
  });
});

describe('the names of state keys', () => {
  test('C136 are bounded although keys have 1024 bytes, readable, and say whose they are', async () => {
    const settings = redisSettings({ nodes: [redis], prefix: 'named' });
    const own = await openServiceStore(redis, settings);
    const policy = policyOf('sms', fixedPeriod(5, 'day'), slidingLog(5, '1s', 'name: burst'));
    for (const key of ['+34 600', 'k'.repeat(1024), `${'\u0000'.repeat(1023)}1`, '{a}:b']) {
      await decide(own, checkOf(policy, { key }));
    }
    const view = viewRedis(settings);
    const names = await view.keys();
    view.close();
    await own.close();
    expect(names).toHaveLength(8);
    for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(512);
    expect(names.every((name) => /^named:\{sms:[^{}:]+\}:(?:burst|sms):/.test(name))).toBe(true);
    expect(names.some((name) => name.startsWith('named:{sms:%2B34%20600}:'))).toBe(true);
  });
});

describe('a policy that was changed', () => {
  test('C162 applies a new quota to the periods and logs that run', async () => {
    for (const kind of [fixedPeriod, slidingLog]) {
      const [ten, hundred, five] = [10, 100, 5].map((quota) =>
        policyOf(kind.name, kind(quota, '60s')),
      );
      if (ten === undefined || hundred === undefined || five === undefined)
        throw new Error('three');
      await decideAll(store, many(ten, 4, 'up'));
      expect((await decide(store, checkOf(hundred, { key: 'up' }))).strictest.remaining).toBe(95);
      await decideAll(store, many(ten, 8, 'down'));
      const denied = await decide(store, checkOf(five, { key: 'down' }));
      expect([denied.code, denied.strictest.remaining]).toEqual(['OVER_QUOTA', 0]);
      const peek = await decide(store, checkOf(five, { key: 'down', cost: 0 }));
      expect([peek.code, peek.strictest.remaining]).toEqual(['HIT_QUOTA', 0]);
    }
  });

  test('C168 begins anew with another algorithm, and comes back to what it left', async () => {
    const period = policyOf('changing', fixedPeriod(5, '60s'));
    const log = policyOf('changing', slidingLog(5, '60s'));
    await decideAll(store, many(period, 5));
    expect((await decide(store, checkOf(log))).strictest.remaining).toBe(4);
    expect((await decide(store, checkOf(period))).code).toBe('OVER_QUOTA');
  });
});

test('C128 a full log of 70,000 units makes no check slow for Redis', async () => {
  const policy = policyOf('large', slidingLog(70_000, '1d'));
  for (let i = 0; i < 35; i++) await decide(store, checkOf(policy, { cost: 2_000 }));
  await redis.client.config('SET', 'slowlog-log-slower-than', 5000);
  await redis.client.call('SLOWLOG', 'RESET');
  for (let i = 0; i < 1000; i++) {
    expect((await decide(store, checkOf(policy))).code).toBe('OVER_QUOTA');
  }
  expect(await redis.client.call('SLOWLOG', 'LEN')).toBe(0);
});

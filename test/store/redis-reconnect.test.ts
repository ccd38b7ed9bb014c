import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Check } from '../../src/domain.js';
import type { Store } from '../../src/store/store.js';
import { checkOf } from '../kit/checks.js';
import { type Answer, countFailures, reasonsOf, startLoad } from '../kit/load.js';
import { openServiceStore } from '../kit/own-redis.js';
import { policyOf } from '../kit/policies.js';
import { redisSettings } from '../kit/redis-settings.js';
import { viewRedis } from '../kit/redis-view.js';
import { until } from '../kit/until.js';
import { type RedisProcess, startRedis } from '../redis/servers.js';
import { fixedPeriod, slidingLog } from './conformance/case.js';

let redis: RedisProcess;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Breaks all connections again and again while checks are asked, until there are enough answers. */
async function underFire(store: Store, count: number, next: () => Check) {
  const load = startLoad(store, 50, next);
  for (let kills = 0; kills < 20 || load.answers.length < count; kills++) {
    const before = load.answers.length;
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until('decisions after the kill', () =>
      load.answers.slice(before).some(({ outcome }) => outcome.kind === 'decided'),
    );
  }
  return load.stop();
}

describe('while connections break again and again', () => {
  test('C124 every answer is that of its own check', async () => {
    const store = await openServiceStore(redis);
    const policies = Array.from({ length: 50 }, (_, i) =>
      policyOf(`p${i}`, fixedPeriod(1000 + i, '600s')),
    );
    let asked = 0;
    const next = (): Check => {
      const policy = policies[asked++ % policies.length];
      if (policy === undefined) throw new Error('a policy');
      return checkOf(policy);
    };
    const answers = await underFire(store, 5000, next);
    await store.close();
    expect(countFailures(answers)).toBeGreaterThan(0);
    expect(reasonsOf(answers).filter((reason) => reason !== 'unavailable')).toEqual([]);
    for (const policy of policies) {
      const own = answers.filter(({ check }) => check.policy === policy);
      const left = own.flatMap(remainingOf);
      // Each number at most once and ever less: none is another check's, and none is charged twice.
      expect(left).toEqual([...new Set(left)].sort((a, b) => b - a));
      expect(Math.max(...left)).toBeLessThan(policy.limits[0].quota);
      const charged = policy.limits[0].quota - Math.min(...left);
      expect(charged).toBeGreaterThanOrEqual(left.length);
      expect(charged).toBeLessThanOrEqual(own.length);
    }
  });

  test('C041 every state key gets its time to live, and all are gone in the end', async () => {
    const settings = redisSettings({ nodes: [redis] });
    const store = await openServiceStore(redis, settings);
    const policy = policyOf(
      'p',
      fixedPeriod(100, '1s', 'name: a, countDenied: true'),
      slidingLog(100, '1s', 'name: b'),
    );
    let asked = 0;
    await underFire(store, 2000, () => checkOf(policy, { key: `${asked++ % 100}` }));
    await store.close();
    const view = viewRedis(settings);
    const keys = await view.keys();
    expect(keys.length).toBeGreaterThan(0);
    const ttls = await Promise.all(keys.map((key) => view.ttlMs(key)));
    expect(ttls.filter((ttl) => ttl === -1)).toEqual([]);
    await until('all keys are gone', async () => (await view.keys()).length === 0);
    view.close();
  });
});

function remainingOf({ outcome }: Answer): number[] {
  return outcome.kind === 'decided' ? outcome.limits.map(({ remaining }) => remaining) : [];
}

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Store } from '../../src/store/store.js';
import { checkOf, decide } from '../kit/checks.js';
import { countFailures, SLACK_MS, slowestMs, startLoad } from '../kit/load.js';
import { openServiceStore } from '../kit/own-redis.js';
import { policyOf } from '../kit/policies.js';
import { until } from '../kit/until.js';
import { type RedisSentinels, startSentinels } from '../redis/sentinels.js';
import { slidingLog } from './conformance/case.js';

const timeoutMs = 250;
const policy = policyOf('p', slidingLog(50_000, '600s'));

let group: RedisSentinels;
let store: Store;

function open(name: string, nodes: readonly { host: string; port: number }[]): Promise<Store> {
  const mode = 'sentinel' as const;
  return openServiceStore(inject('redis'), {
    ...{ mode, nodes: [...nodes], sentinel: { name }, timeoutMs, database: 2 },
  });
}

beforeAll(async () => {
  group = await startSentinels();
  store = await open(group.name, group.nodes);
});
afterAll(async () => {
  await store.close();
  await group.stop();
});

/** Asks all the time while something happens to the primary; gives back how long there was no decision. */
async function through(happens: () => Promise<unknown>): Promise<{ outageMs: number }> {
  const load = startLoad(store, 10, () => checkOf(policy));
  await until('some decisions', () => load.answers.length > 100);
  const at = performance.now();
  await happens();
  await until('failures', () => countFailures(load.answers) > 0);
  const recovered = (): boolean => {
    const last = load.answers.slice(-200);
    return (last[0]?.at ?? 0) > at && countFailures(last) === 0;
  };
  await until('200 decisions in a row', recovered);
  const answers = await load.stop();
  expect(slowestMs(answers)).toBeLessThan(timeoutMs + SLACK_MS);
  const decided = answers.filter(({ outcome }) => outcome.kind === 'decided').map((one) => one.at);
  const gaps = decided.map((time, i) => time - (decided[i - 1] ?? time));
  return { outageMs: Math.max(...gaps) };
}

describe('a group of Sentinels', () => {
  test('names the primary, whatever order the Sentinels are in', async () => {
    const { name, nodes } = inject('redisSentinels');
    const shared = await open(name, [...nodes].reverse());
    expect((await decide(shared, checkOf(policy))).strictest.remaining).toBe(49_999);
    await shared.close();
  });

  test('C111 moves the primary: decisions resume within 5 seconds, and nothing is refused later', async () => {
    const [sentinel] = group.sentinels;
    const { outageMs } = await through(async () =>
      sentinel?.client.call('SENTINEL', 'FAILOVER', group.name),
    );
    expect(outageMs).toBeLessThan(5000);
    expect((await decide(store, checkOf(policy))).code).toBe('ALLOWED');
  });

  test('C112 replaces a primary that was killed: every check is answered in time meanwhile', async () => {
    const [sentinel] = group.sentinels;
    const primary = await until('the failover before is over', async () => {
      const address: unknown = await sentinel?.client.call(
        ...(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', group.name] as const),
      );
      const port = Array.isArray(address) ? Number(address[1]) : undefined;
      const server = group.servers.find((one) => one.port === port);
      const info = await server?.client.info('replication');
      return /role:master\s+connected_slaves:2/.test(info ?? '') ? server : undefined;
    });
    const { outageMs } = await through(() => primary.kill());
    expect(outageMs).toBeLessThan(10_000);
  });
});

import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/clock.js';
import type { RedisSettings } from '../../src/config/settings.js';
import { createRedisStore } from '../../src/store/redis/redis.js';
import { checkOf, decide } from '../kit/checks.js';
import { policyOf } from '../kit/policies.js';
import { redisSettings } from '../kit/redis-settings.js';
import { until } from '../kit/until.js';
import { freePort } from '../redis/ports.js';
import { startRedis } from '../redis/servers.js';

const FILES = 'test/redis/tls';
const POLICY = policyOf('p', '{ algorithm: fixed-period, quota: 5, period: 1h }');

/** A Redis that speaks TLS and wants a certificate of its clients. */
async function startTls(): Promise<number> {
  const port = await freePort();
  const files = ['--tls-cert-file', `${FILES}/server.pem`, '--tls-key-file', `${FILES}/server.key`];
  const absolute = files.map((part) =>
    part.startsWith('test/') ? `${process.cwd()}/${part}` : part,
  );
  const redis = await startRedis([
    ...['--tls-port', String(port), '--tls-auth-clients', 'yes'],
    ...['--tls-ca-cert-file', `${process.cwd()}/${FILES}/ca.pem`, ...absolute],
  ]);
  onTestFinished(() => redis.stop());
  return port;
}

const pem = (name: string): string => readFileSync(`${FILES}/${name}`, 'utf8');

function connect(port: number, tls: RedisSettings['tls']) {
  const said: string[] = [];
  const store = createRedisStore({
    settings: redisSettings({ nodes: [{ host: '127.0.0.1', port }], ...(tls && { tls }) }),
    clock: createSystemClock(),
    onHealth: ({ detail }) => said.push(detail),
  });
  onTestFinished(() => store.close());
  return { store, said };
}

it('speaks TLS with a CA of its own and a client certificate', async () => {
  const port = await startTls();
  const { store } = connect(port, {
    ca: pem('ca.pem'),
    cert: pem('client.pem'),
    key: pem('client.key'),
  });
  await until('the store is up', () => store.health().up);
  expect((await decide(store, checkOf(POLICY))).strictest.remaining).toBe(4);
});

it('refuses a server that another CA has signed, and says so', async () => {
  const port = await startTls();
  const { store, said } = connect(port, {
    ca: pem('other-ca.pem'),
    cert: pem('client.pem'),
    key: pem('client.key'),
  });
  await until('it says so', () => said.some((detail) => /certificate/.test(detail)));
  expect(store.health().up).toBe(false);
  const [outcome] = await store.decide([checkOf(POLICY)]);
  expect(outcome).toMatchObject({ kind: 'failure', reason: 'unavailable' });
});

it('is refused without a certificate where one is wanted', async () => {
  const port = await startTls();
  const { store, said } = connect(port, { ca: pem('ca.pem') });
  await until('it says why', () => said.some((detail) => detail.startsWith('cannot use Redis at')));
  expect(store.health().up).toBe(false);
});

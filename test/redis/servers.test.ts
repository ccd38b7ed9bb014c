import { Cluster, Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { startRedis } from './servers.js';

test('the shared servers are a single Redis, a Cluster of six and a Sentinel group', async () => {
  const single = new Redis(inject('redis'));
  const cluster = new Cluster([...inject('redisCluster')]);
  const { name, nodes } = inject('redisSentinels');
  const primary = new Redis({ name, sentinels: [...nodes] });
  expect(await single.ping()).toBe('PONG');
  expect(await cluster.set('sluice-servers', '1')).toBe('OK');
  expect([cluster.nodes('master').length, cluster.nodes('slave').length]).toEqual([3, 3]);
  expect(await primary.info('replication')).toMatch(/role:master\s+connected_slaves:2/);
  for (const client of [single, cluster, primary]) client.disconnect();
});

test('a server of our own is started, paused, killed, started again and stopped', async () => {
  const server = await startRedis();
  server.pause();
  const late = server.client.ping();
  server.resume();
  expect(await late).toBe('PONG');

  const first = server.pid();
  await server.kill();
  expect(() => process.kill(first, 0)).toThrow('ESRCH');
  await server.start();
  expect(server.pid()).not.toBe(first);
  expect(await server.client.ping()).toBe('PONG');

  const second = server.pid();
  await server.stop();
  expect(() => process.kill(second, 0)).toThrow('ESRCH');
});

import { expect, inject, it, onTestFinished } from 'vitest';
import { randomPrefix } from '../kit/redis-settings.js';
import { grpcCaller } from '../kit/service.js';
import { check, policyFile, startSluice, statusOf } from '../kit/sluice-process.js';
import { until } from '../kit/until.js';
import { startSentinels } from '../redis/sentinels.js';
import { startRedis } from '../redis/servers.js';

const POLICIES = `
policies:
  hundred: { limits: [{ algorithm: fixed-period, quota: 100, period: 1h }] }
  log: { limits: [{ algorithm: sliding-log, quota: 100, period: 1h }] }
`;

it.each(['hundred', 'log'])(
  'parallel clients of two processes are admitted exactly the quota of %s, over REST and gRPC',
  async (policy) => {
    const { host, port } = inject('redis');
    const args = [
      ...['--policies', policyFile(POLICIES), '--redis-prefix', randomPrefix()],
      ...['--redis-url', `redis://${host}:${port}`, '--redis-timeout-ms', '10000'],
    ];
    const both = await Promise.all([startSluice(args), startSluice(args)]);
    onTestFinished(() => {
      for (const sluice of both) sluice.signal('SIGKILL');
    });
    for (const { admin } of both) {
      await until('the store is reached', async () => (await statusOf(admin, '/readyz')) === 200);
    }
    const callers = both.map(({ grpc }) => grpcCaller(grpc));
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, i): Promise<unknown> => {
        const [sluice, caller] = [both[i % 2], callers[i % 2]];
        if (sluice === undefined || caller === undefined) throw new Error('two of each');
        if (i % 3 === 0) return (await check(sluice.rest, policy, 'one')).allowed;
        const answer = await caller.call('Check', { policy, key: 'one' });
        return 'message' in answer ? (answer.message.allowed ?? false) : answer.details;
      }),
    );
    for (const caller of callers) caller.close();
    expect(answers.filter((allowed) => allowed === true)).toHaveLength(100);
    expect(answers.filter((allowed) => allowed === false)).toHaveLength(200);
  },
);

it('C104: with Redis unreachable at start it serves, is not ready, and goes on by itself later', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await redis.kill();
  const url = `redis://${redis.host}:${redis.port}`;
  const sluice = await startSluice(['--policies', policyFile(POLICIES), '--redis-url', url]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  for (let i = 0; i < 10; i++) {
    expect(await check(sluice.rest, 'hundred', 'k')).toMatchObject({
      status: 503,
      code: 'UNKNOWN',
      reason: 'STORE_UNAVAILABLE',
    });
  }
  const caller = grpcCaller(sluice.grpc);
  const failed = await caller.call('Check', { policy: 'hundred', key: 'k' });
  expect(failed).toMatchObject({ code: 14, statusDetails: expect.stringContaining('UNKNOWN') });
  caller.close();
  expect(await statusOf(sluice.admin, '/livez')).toBe(200);
  expect(await statusOf(sluice.admin, '/readyz')).toBe(503);
  expect(sluice.output()).toContain('ECONNREFUSED');

  await redis.start();
  await until('it is ready', async () => (await statusOf(sluice.admin, '/readyz')) === 200);
  expect(await check(sluice.rest, 'hundred', 'k')).toMatchObject({ status: 200, remaining: 99 });
});

it('stays alive and ready while Redis is frozen, and answers every check in time', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const url = `redis://${redis.host}:${redis.port}`;
  const sluice = await startSluice(['--policies', policyFile(POLICIES), '--redis-url', url]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it is ready', async () => (await statusOf(sluice.admin, '/readyz')) === 200);
  redis.pause();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => check(sluice.rest, 'hundred', 'k')),
  );
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 503, reason: 'STORE_TIMEOUT' });
  expect(await statusOf(sluice.admin, '/livez')).toBe(200);
  expect(await statusOf(sluice.admin, '/readyz')).toBe(200);
  redis.resume();
  await until(
    'it decides again',
    async () => (await check(sluice.rest, 'hundred', 'k')).status === 200,
  );
});

it('says that the password is wrong, and does not show it', async () => {
  const redis = await startRedis([], { password: 'right' });
  onTestFinished(() => redis.stop());
  const sluice = await startSluice([
    '--redis-url',
    `redis://:wrong-one@${redis.host}:${redis.port}`,
  ]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it says so', () => sluice.output().includes('refuses the user name or password'));
  expect(await statusOf(sluice.admin, '/readyz')).toBe(503);
  expect(await check(sluice.rest, 'login', 'k')).toMatchObject({ status: 503, code: 'UNKNOWN' });
  expect(sluice.output()).not.toContain('wrong-one');
});

it('says that a Redis given as a Cluster is none', async () => {
  const { host, port } = inject('redis');
  const sluice = await startSluice([
    '--redis-url',
    `redis://${host}:${port}`,
    '--redis-cluster',
    'true',
  ]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it says so', () => sluice.output().includes('it is no Cluster'));
  expect(await statusOf(sluice.admin, '/readyz')).toBe(503);
  expect(await check(sluice.rest, 'login', 'k')).toMatchObject({ status: 503, code: 'UNKNOWN' });
});

it('decides on a Cluster and behind Sentinels', async () => {
  const nodes = inject('redisCluster').map(({ host, port }) => `redis://${host}:${port}`);
  const sentinels = inject('redisSentinels');
  const hosts = sentinels.nodes.map(({ host, port }) => `${host}:${port}`);
  for (const args of [
    ['--redis-url', nodes.join(',')],
    ['--redis-sentinels', hosts.join(','), '--redis-sentinel-name', sentinels.name],
  ]) {
    const patient = ['--redis-prefix', randomPrefix(), '--redis-timeout-ms', '5000'];
    const sluice = await startSluice([...args, ...patient]);
    onTestFinished(() => sluice.signal('SIGKILL'));
    await until('it is ready', async () => (await statusOf(sluice.admin, '/readyz')) === 200);
    expect(await check(sluice.rest, 'search', '{a}:b')).toMatchObject({
      status: 200,
      remaining: 9,
    });
  }
});

it('says that a Redis given as one server is a node of a Cluster, and is not ready', async () => {
  const node = inject('redisCluster')[0];
  const url = `redis://${node?.host}:${node?.port}`;
  const sluice = await startSluice(['--redis-url', url, '--redis-timeout-ms', '5000']);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it was sent elsewhere', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((key) => check(sluice.rest, 'login', key)),
    );
    return answers.some(({ status }) => status === 503);
  });
  expect(sluice.output()).toContain('it is a node of a Cluster: set redis.cluster');
});

it('does not go on in database 0 if the one that is wanted is not there', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const sluice = await startSluice([
    ...['--redis-url', `redis://${redis.host}:${redis.port}`, '--redis-database', '99'],
  ]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it says so', () => sluice.output().includes('DB index is out of range'));
  expect(await check(sluice.rest, 'login', 'k')).toMatchObject({ status: 503, code: 'UNKNOWN' });
  expect(await statusOf(sluice.admin, '/readyz')).toBe(503);
  expect(await redis.client.dbsize()).toBe(0);
});

it('is ready once Redis was reached, whether or not anybody asked before it went away', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const sluice = await startSluice(['--redis-url', `redis://${redis.host}:${redis.port}`]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it is connected', () => sluice.output().includes('connected to Redis'));
  await redis.kill();
  await until('it has noticed', () => sluice.output().includes('lost the connection'));
  expect(await statusOf(sluice.admin, '/readyz')).toBe(200);
});

it('finds its Redis although one of the Sentinels is frozen', async () => {
  const group = await startSentinels();
  onTestFinished(() => group.stop());
  const frozen = group.sentinels[0];
  frozen?.pause();
  const hosts = group.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  const sluice = await startSluice([
    ...['--redis-sentinels', hosts, '--redis-sentinel-name', group.name],
  ]);
  onTestFinished(() => sluice.signal('SIGKILL'));
  await until('it is ready', async () => (await statusOf(sluice.admin, '/readyz')) === 200);
  frozen?.resume();
});

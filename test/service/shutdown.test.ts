import { spawn } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { grpcCaller } from '../kit/service.js';
import { check, type SluiceProcess, startSluice, statusOf } from '../kit/sluice-process.js';
import { until } from '../kit/until.js';
import { type RedisProcess, startRedis } from '../redis/servers.js';

/** A service over a Redis of its own that may be held still. */
async function startOnRedis(
  timeoutMs: number,
): Promise<{ redis: RedisProcess; sluice: SluiceProcess }> {
  const redis = await startRedis();
  const sluice = await startSluice([
    ...['--redis-url', `redis://${redis.host}:${redis.port}`],
    ...['--redis-timeout-ms', String(timeoutMs)],
    ...['--policies', 'config/policies'],
  ]);
  onTestFinished(async () => {
    sluice.signal('SIGKILL');
    await redis.stop();
  });
  await until(
    'the store is reached',
    async () => (await statusOf(sluice.admin, '/readyz')) === 200,
  );
  return { redis, sluice };
}

async function inFlight({ admin }: SluiceProcess): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  return Number(/^sluice_checks_in_flight (\d+)$/m.exec(text)?.[1]);
}

it('C197: after SIGTERM every check that runs gets its answer, and the exit code is 0', async () => {
  const { redis, sluice } = await startOnRedis(10_000);
  const caller = grpcCaller(sluice.grpc);
  await caller.call('Check', { policy: 'login', key: 'warm' });
  redis.pause();
  const rest = Array.from({ length: 200 }, (_, i) => check(sluice.rest, 'login', `rest-${i}`));
  const grpc = Array.from({ length: 200 }, (_, i) =>
    caller.call('Check', { policy: 'login', key: `grpc-${i}` }),
  );
  await until('all have arrived', async () => (await inFlight(sluice)) === 400);
  const asked = performance.now();
  sluice.signal('SIGTERM');
  await until('it is not ready', async () => (await statusOf(sluice.admin, '/readyz')) === 503);
  redis.resume();
  for (const answer of await Promise.all(rest))
    expect(answer).toMatchObject({ status: 200, remaining: 4 });
  for (const answer of await Promise.all(grpc))
    expect(answer).toMatchObject({ message: { remaining: 4 } });
  caller.close();
  expect(await sluice.ended).toBe(0);
  expect(performance.now() - asked).toBeLessThan(3000);
});

it('C202: readiness is gone at once, and checks are still served for as long as shutdown.delayMs', async () => {
  const sluice = await startSluice(['--shutdown-delay-ms', '1500']);
  onTestFinished(() => sluice.signal('SIGKILL'));
  const started = performance.now();
  sluice.signal('SIGTERM');
  await until('it is not ready', async () => (await statusOf(sluice.admin, '/readyz')) === 503);
  expect(performance.now() - started).toBeLessThan(1000);
  expect(await check(sluice.rest, 'login', 'late')).toMatchObject({ status: 200 });
  expect(await sluice.ended).toBe(0);
});

it('C203: with Redis away it ends all the same, with 0', async () => {
  const { redis, sluice } = await startOnRedis(50);
  await redis.kill();
  sluice.signal('SIGTERM');
  expect(await sluice.ended).toBe(0);
});

it('a second signal ends it at once', async () => {
  const { redis, sluice } = await startOnRedis(10_000);
  redis.pause();
  const unanswered = check(sluice.rest, 'login', 'k').catch(() => 'cut off');
  await until('it has arrived', async () => (await inFlight(sluice)) === 1);
  sluice.signal('SIGTERM');
  await until('it is shutting down', () => sluice.output().includes('shutting down'));
  // The first quarter of a second belongs to the first signal, which npm may pass on again.
  const over = sluice.ended.then(() => true);
  await until('it is over', async () => {
    sluice.signal('SIGTERM');
    return Promise.race([over, Promise.resolve(false)]);
  });
  expect(await sluice.ended).toBe(1);
  expect(await unanswered).toBe('cut off');
  redis.resume();
});

it('a Ctrl-C that npm passes on as well ends it in good order', async () => {
  const sluice = await startSluice();
  sluice.signal('SIGINT');
  sluice.signal('SIGINT');
  expect(await sluice.ended).toBe(0);
  expect(sluice.output()).toContain('stopped');
});

it('ends although nobody reads what it prints any more', async () => {
  const flags = ['--http-port', '0', '--grpc-port', '0', '--admin-port', '0'];
  const child = spawn(process.execPath, ['src/sluice.mjs', 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdout.destroy();
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

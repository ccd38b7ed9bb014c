import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { check, policyFile, run, startSluice, statusOf } from '../kit/sluice-process.js';
import { until } from '../kit/until.js';

it('prints its addresses and a curl line that works when pasted, and denies the sixth login', async () => {
  const sluice = await startSluice();
  onTestFinished(() => sluice.signal('SIGKILL'));
  const line = await until(
    'it says what to try',
    () => /Try: {2}(curl .*)\n/.exec(sluice.output())?.[1],
  );
  const answers = Array.from({ length: 6 }, () => {
    const text = execFileSync('sh', ['-c', line], { encoding: 'utf8' });
    return JSON.parse(text).code;
  });
  expect(answers).toEqual(['ALLOWED', 'ALLOWED', 'ALLOWED', 'ALLOWED', 'HIT_QUOTA', 'OVER_QUOTA']);
});

it('does not build again when nothing changed', async () => {
  const second = run(['--version']);
  expect(await second.ended).toBe(0);
  expect(second.output()).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it('says in one line that a port is in use, and exits 1', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  onTestFinished(() => {
    taken.close();
  });
  const address = taken.address();
  const port = String(typeof address === 'object' ? address?.port : 0);
  for (const name of ['http', 'grpc', 'admin']) {
    const others = ['http', 'grpc', 'admin'].filter((other) => other !== name);
    const flags = others.flatMap((other) => [`--${other}-port`, '0']);
    const sluice = run(['serve', ...flags, `--${name}-port`, port]);
    expect(await sluice.ended).toBe(1);
    const last = sluice.output().trimEnd().split('\n').at(-1);
    expect(last).toMatch(new RegExp(`${port}.*EADDRINUSE`));
  }
});

it('refuses a file of policies with mistakes, and lists them all', async () => {
  const file = policyFile('policies:\n  p: { limits: [{ algorithm: x, quota: -1 }] }\n  q: {}\n');
  for (const args of [
    ['serve', '--policies', file],
    ['validate', file],
  ]) {
    const sluice = run(args);
    expect(await sluice.ended).toBe(1);
    expect(sluice.output()).toContain(`${file}:2:`);
    expect(sluice.output()).toContain(`${file}:3:`);
  }
});

it('validates without serving', async () => {
  const sluice = run(['validate', 'config/policies']);
  expect(await sluice.ended).toBe(0);
  expect(sluice.output()).toBe('config/policies: 3 policies, no mistakes: login, sms, search\n');
});

it('C058: the time zone of the process has no influence', async () => {
  const resets = await Promise.all(
    ['Asia/Shanghai', 'America/New_York'].map(async (TZ) => {
      const sluice = await startSluice([], { TZ });
      onTestFinished(() => sluice.signal('SIGKILL'));
      return (await check(sluice.rest, 'sms', 'k')).resetAfterMs ?? Number.NaN;
    }),
  );
  expect(Math.abs((resets[0] ?? 0) - (resets[1] ?? 0))).toBeLessThan(20_000);
});

it('serves health: alive and ready, with the reasons if asked', async () => {
  const sluice = await startSluice();
  onTestFinished(() => sluice.signal('SIGKILL'));
  expect(await statusOf(sluice.admin, '/livez')).toBe(200);
  const ready = await fetch(`${sluice.admin}/readyz?verbose`);
  expect(await ready.text()).toBe(
    '[+] listening: REST and gRPC\n[+] store: in memory, 0 of at most 1000000 keys\n[+] not shutting down: yes\nok\n',
  );
});

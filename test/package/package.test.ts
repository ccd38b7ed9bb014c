import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { check, type Place, run, startSluice, statusOf } from '../kit/sluice-process.js';
import { until } from '../kit/until.js';

// What a user does who has the tarball and npm, and no clone.
const work = mkdtempSync(join(tmpdir(), 'sluice-package-'));
const empty = join(work, 'empty');
const installed = join(empty, 'node_modules', 'sluice');
/** Without --no, npx would look in the registry for a command that is not installed. */
const npx: Place = { command: ['npx', '--no', 'sluice'], cwd: empty };

beforeAll(() => {
  mkdirSync(empty);
  const npm = (...args: string[]) => execFileSync('npm', args, { encoding: 'utf8' }).trim();
  const tarball = npm('pack', '--silent', '--pack-destination', work);
  // From the cache where npm has it, so that it is quick and needs the network once.
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  npm('install', '--prefix', empty, ...quick, join(work, tarball));
}, 120_000);
afterAll(() => rmSync(work, { recursive: true }));

/** All files below a folder, by their paths in it. */
function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name)).isFile()).sort();
}

async function outputOf(...args: string[]): Promise<{ code: number | string; output: string }> {
  const child = run(args, {}, npx);
  return { code: await child.ended, output: child.output() };
}

it('has what running takes, and nothing else', () => {
  const built = filesIn('src').filter((file) => !file.endsWith('.mjs'));
  expect(filesIn(installed)).toEqual(
    [
      ...['LICENSE', 'README.md', 'package.json', 'src/sluice.mjs'],
      ...filesIn('config').map((file) => `config/${file}`),
      ...filesIn('proto').map((file) => `proto/${file}`),
      ...built.map((file) => `dist/${file.replace(/\.ts$/, '.js')}`),
    ].sort(),
  );
  expect(existsSync(join(empty, 'node_modules', 'fastify'))).toBe(true);
  expect(existsSync(join(empty, 'node_modules', 'typescript'))).toBe(false);
});

it('tells its version, validates policies and replays a log', async () => {
  const version = await outputOf('--version');
  expect(version).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });

  const examples = join(installed, 'config', 'policies');
  const validated = await outputOf('validate', examples);
  expect(validated).toEqual({
    code: 0,
    output: expect.stringContaining('no mistakes'),
  });

  const line = '192.0.2.1 - - [18/May/2015:08:05:32 +0000] "GET / HTTP/1.1" 200 5 "-" "-"\n';
  writeFileSync(join(empty, 'access.log'), line);
  const replayed = await outputOf('replay', '--policy', examples, '--key', 'client', 'access.log');
  expect(replayed).toEqual({ code: 0, output: expect.stringMatching(/checks +1\n/) });
});

it('says what to do where there are no policies, and then serves, and ends with 0', async () => {
  const refused = await outputOf('serve');
  expect(refused.code).toBe(1);
  const said =
    /^config\/policies: no such file or folder; .*--policies .*; examples are in (.*)\n$/;
  expect(refused.output).toMatch(said);
  const examples = said.exec(refused.output)?.[1] ?? '';

  const { host, port } = inject('redis');
  const redis = ['--redis-url', `redis://${host}:${port}`, '--redis-timeout-ms', '5000'];
  const sluice = await startSluice(['--policies', examples, ...redis], {}, npx);
  // npx has started it by a shell that passes no signal on, so this is sent to the service itself.
  const pid = Number(/"pid":(\d+)/.exec(sluice.output())?.[1]);
  let over = false;
  sluice.ended.then(() => {
    over = true;
  });
  onTestFinished(() => {
    if (!over) process.kill(pid, 'SIGKILL');
  });
  await until('Redis is reached', async () => (await statusOf(sluice.admin, '/readyz')) === 200);
  expect(await check(sluice.rest, 'login', work)).toMatchObject({ status: 200, remaining: 4 });
  process.kill(pid, 'SIGTERM');
  expect(await sluice.ended).toBe(0);
  expect(sluice.output()).toContain('"stopped"');
});

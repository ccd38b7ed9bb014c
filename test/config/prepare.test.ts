import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const COMPILER = "require('node:fs').mkdirSync('dist');";
const NPM = `#!/bin/sh
echo "$@" >> npm.log
[ -e broken ] && exit 1
mkdir -p node_modules/typescript/bin
echo "${COMPILER}" > node_modules/typescript/bin/tsc
`;

/** A clone with nothing in it but what prepares it, and an npm that writes down what it is told. */
function clone() {
  const root = mkdtempSync(join(tmpdir(), 'sluice-prepare-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const at = (...parts: string[]) => join(root, ...parts);
  for (const folder of ['src', 'bin']) mkdirSync(at(folder));
  copyFileSync('src/prepare.mjs', at('src', 'prepare.mjs'));
  for (const file of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
    writeFileSync(at(file), '{}');
  }
  writeFileSync(at('bin', 'npm'), NPM, { mode: 0o755 });
  const environment = { ...process.env, PATH: `${at('bin')}:${process.env.PATH}` };
  const command = [process.execPath, [at('src', 'prepare.mjs')]] as const;
  return {
    at,
    prepare: (variables = {}) =>
      spawnSync(...command, { env: { ...environment, ...variables }, encoding: 'utf8' }),
    start: () => spawn(...command, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] }),
  };
}

const DONE = 'sluice: installing dependencies\nsluice: building\n';

test('what the build needs is installed whatever NODE_ENV says, and once', () => {
  const { at, prepare } = clone();
  expect(prepare({ NODE_ENV: 'production' })).toMatchObject({ status: 0, stderr: DONE });
  expect(prepare({ NODE_ENV: 'production' })).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(at('npm.log'), 'utf8')).toMatch(/^ci --include=dev .*\n$/);
  expect(readdirSync(at()).filter((file) => file.startsWith('.sluice'))).toEqual([]);
});

test('an install that failed is tried again', () => {
  const { at, prepare } = clone();
  writeFileSync(at('broken'), '');
  const { status, stderr } = prepare();
  expect(status).toBe(1);
  expect(stderr).toMatch(/^sluice: installing dependencies\nsluice: `npm ci .*` failed\n$/);
  expect(existsSync(at('node_modules', '.sluice-installed'))).toBe(false);
  rmSync(at('broken'));
  expect(prepare()).toMatchObject({ status: 0, stderr: DONE });
});

test('the lock of a process that is gone is taken over at once', () => {
  const { at, prepare } = clone();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  mkdirSync(at('.sluice-preparing', String(pid)), { recursive: true });
  expect(prepare()).toMatchObject({ status: 0, stderr: DONE });
  expect(existsSync(at('.sluice-preparing'))).toBe(false);
});

test('the lock of a living process is waited for, and that is said once', async () => {
  const { at, start } = clone();
  mkdirSync(at('.sluice-preparing', String(process.pid)), { recursive: true });
  const child = start();
  let told = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text;
      resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, 350));
  const waiting = `sluice: waiting for another install or build (process ${process.pid})\n`;
  expect(told).toBe(waiting);
  rmSync(at('.sluice-preparing'), { recursive: true });
  expect(await ended).toBe(0);
  expect(told).toBe(waiting + DONE);
});

test('of several that start at once beside a dead lock, one installs', async () => {
  const { at, start } = clone();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  mkdirSync(at('.sluice-preparing', String(pid)), { recursive: true });
  const codes = Array.from({ length: 6 }, () => {
    const child = start();
    child.stderr.resume();
    return new Promise((resolve) => child.once('close', resolve));
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(readFileSync(at('npm.log'), 'utf8').split('\n')).toHaveLength(2);
});

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
import { until } from '../kit/until.js';

/** An npm that writes down what it is told, and then does what the files in the clone say. */
const NPM = `#!/bin/sh
echo "$@" >> ../npm.log
[ -e ../broken ] && exit 1
[ -e ../hanging ] && echo hangs >&2 && exec sleep 600
while [ $(wc -l < ../npm.log) -lt \${TOGETHER:-1} ]; do sleep 0.01; done
mkdir -p node_modules/typescript/bin
cp ../bin/tsc node_modules/typescript/bin
[ -e ../during-npm ] && rm ../during-npm && touch node_modules/late && node ../src/prepare.mjs
exit 0
`;
const COMPILER = `
const { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const out = process.argv.at(-1);
mkdirSync(out);
for (const file of readdirSync('src').filter((name) => name.endsWith('.ts'))) {
  writeFileSync(out + '/' + file.replace('.ts', '.js'), '');
}
if (existsSync('during-tsc')) {
  rmSync('during-tsc');
  writeFileSync(out + '/late', '');
  require('node:child_process').spawnSync('node', ['src/prepare.mjs'], { stdio: 'inherit' });
}
`;

/** A clone with nothing in it but what prepares it and what that works on. */
function clone() {
  const root = mkdtempSync(join(tmpdir(), 'sluice-prepare-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const at = (...parts: string[]) => join(root, ...parts);
  for (const folder of ['src', 'bin']) mkdirSync(at(folder));
  copyFileSync('src/prepare.mjs', at('src', 'prepare.mjs'));
  const manifests = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  const sources = ['src/main.ts', 'src/old.ts', 'src/check.lua'];
  for (const file of [...manifests, ...sources]) writeFileSync(at(file), '{}');
  writeFileSync(at('bin', 'npm'), NPM, { mode: 0o755 });
  writeFileSync(at('bin', 'tsc'), COMPILER);
  const environment = { ...process.env, PATH: `${at('bin')}:${process.env.PATH}` };
  const command = [process.execPath, [at('src', 'prepare.mjs')]] as const;
  return {
    at,
    drafts: () => readdirSync(root).filter((name) => name.startsWith('.sluice')),
    prepare: (variables = {}) =>
      spawnSync(...command, { env: { ...environment, ...variables }, encoding: 'utf8' }),
    /** In a process group of its own, as a terminal has it. */
    start(variables = {}) {
      const env = { ...environment, ...variables };
      const child = spawn(...command, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
      let told = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        told += text;
      });
      const ended = new Promise((resolve) => {
        child.once('close', (code, signal) => resolve(code ?? signal));
      });
      return { pid: child.pid ?? 0, told: () => told, ended };
    },
  };
}

const DONE = 'sluice: installing dependencies\nsluice: building\n';

test('what the build needs is installed whatever NODE_ENV says, and once', () => {
  const { at, prepare, drafts } = clone();
  expect(prepare({ NODE_ENV: 'production' })).toMatchObject({ status: 0, stderr: DONE });
  expect(prepare({ NODE_ENV: 'production' })).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(at('npm.log'), 'utf8')).toMatch(/^ci --include=dev .*\n$/);
  expect(drafts()).toEqual([]);
});

test('a changed source is built again, and nothing stays of one that is gone', () => {
  const { at, prepare } = clone();
  prepare();
  rmSync(at('src', 'old.ts'));
  expect(prepare()).toMatchObject({ status: 0, stderr: 'sluice: building\n' });
  expect(readdirSync(at('dist'))).toEqual(['.made-of', 'check.lua', 'main.js']);
});

test('a changed lock file is installed again, also over what came otherwise', () => {
  const { at, prepare } = clone();
  mkdirSync(at('node_modules', 'other'), { recursive: true });
  expect(prepare()).toMatchObject({ status: 0, stderr: DONE });
  expect(existsSync(at('node_modules', 'other'))).toBe(false);
  writeFileSync(at('package-lock.json'), '{ "changed": true }');
  expect(prepare()).toMatchObject({ status: 0, stderr: DONE });
});

test('an install that failed is tried again', () => {
  const { at, prepare, drafts } = clone();
  writeFileSync(at('broken'), '');
  const { status, stderr } = prepare();
  expect(status).toBe(1);
  expect(stderr).toMatch(/^sluice: installing dependencies\nsluice: `npm ci .*` failed\n$/);
  expect(drafts()).toEqual([]);
  rmSync(at('broken'));
  expect(prepare()).toMatchObject({ status: 0, stderr: DONE });
});

test.each([
  { signal: 'SIGINT', end: 1, left: 0 },
  { signal: 'SIGKILL', end: 'SIGKILL', left: 1 },
] as const)('an install that $signal ended is done again', async ({ signal, end, left }) => {
  const { at, prepare, start, drafts } = clone();
  writeFileSync(at('hanging'), '');
  const child = start();
  await until('npm runs', () => child.told().includes('hangs'));
  process.kill(-child.pid, signal);
  expect(await child.ended).toBe(end);
  expect(drafts()).toHaveLength(left);
  rmSync(at('hanging'));
  expect(prepare()).toMatchObject({ status: 0, stderr: DONE });
});

test.each([
  { tool: 'npm', folder: 'node_modules', told: `sluice: installing dependencies\n${DONE}` },
  { tool: 'tsc', folder: 'dist', told: `${DONE}sluice: building\n` },
])('what another process makes while $tool runs is kept', ({ tool, folder, told }) => {
  const { at, prepare, drafts } = clone();
  writeFileSync(at(`during-${tool}`), '');
  expect(prepare()).toMatchObject({ status: 0, stderr: told });
  expect(readdirSync(at(folder))).toContain('.made-of');
  expect(readdirSync(at(folder))).not.toContain('late');
  expect(drafts()).toEqual([]);
});

test('of several that install at the same moment, all can go on', async () => {
  const { at, start, drafts } = clone();
  // Each npm waits until it is one of four.
  const children = Array.from({ length: 4 }, () => start({ TOGETHER: '4' }));
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  expect(readdirSync(at('dist'))).toEqual(['.made-of', 'check.lua', 'main.js', 'old.js']);
  expect(drafts()).toEqual([]);
});

// Installs and builds what is missing or out of date, and nothing else, so that a second start is quick.
// Plain JavaScript without dependencies: on a clean clone there are none yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function digest(files) {
  const hash = createHash('sha256').update(process.version);
  for (const file of files) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error === undefined && status === 0) return;
  console.error(
    `sluice: \`${command} ${args.join(' ')}\` failed${error ? `: ${error.message}` : ''}`,
  );
  process.exit(1);
}

/** Does `work` unless `stamp` says that it was done for exactly these inputs. */
function once(stamp, inputs, work) {
  const wanted = digest(inputs);
  const isDone = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isDone()) return;
  // Another process may be at it, in the next terminal.
  alone(() => {
    if (isDone()) return;
    work();
    writeFileSync(stamp, wanted);
  });
}

/** A folder with one entry, called like the process that has the lock. */
const lock = at('.sluice-preparing');
const own = String(process.pid);
const draft = `${lock}-${own}`;

/** Takes the lock, or returns the process that has it. Of several that rename, only one can. */
function take() {
  mkdirSync(join(draft, own), { recursive: true });
  try {
    renameSync(draft, lock);
    return undefined;
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
  }
  try {
    const [holder = '?'] = readdirSync(lock);
    if (holder !== own && isAlive(Number(holder))) return holder;
    renameSync(join(lock, holder), join(lock, own));
    return undefined;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return take();
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled.
    return error.code !== 'ESRCH';
  }
}

function unlock() {
  if (!existsSync(lock)) return;
  renameSync(lock, draft);
  rmSync(draft, { recursive: true });
}

/** Runs `work` while no other process does. */
function alone(work) {
  for (let told = false, holder = take(); holder !== undefined; holder = take()) {
    if (!told) console.error(`sluice: waiting for another install or build (process ${holder})`);
    told = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  const interrupted = () => process.exit(1);
  process.once('exit', unlock);
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  try {
    work();
  } finally {
    unlock();
    process.off('exit', unlock);
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  }
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`sluice: Node ${process.versions.node} is too old; install Node 20.19 or later`);
  process.exit(1);
}

once(at('node_modules', '.sluice-installed'), [at('package-lock.json')], () => {
  console.error('sluice: installing dependencies');
  // The build needs the compiler, also where NODE_ENV=production makes npm leave it out.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['ci', '--include=dev', ...quiet, '--ignore-scripts']);
});

const sources = filesIn(at('src'));
once(at('dist', '.built'), [...sources, at('tsconfig.json'), at('tsconfig.build.json')], () => {
  console.error('sluice: building');
  rmSync(at('dist'), { recursive: true, force: true });
  run('node', [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json']);
  for (const file of sources.filter((name) => name.endsWith('.lua'))) {
    cpSync(file, at('dist', file.slice(at('src').length + 1)));
  }
});

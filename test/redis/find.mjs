// Finds the Redis server that the tests start, and installs one where there is none and it may.
// Plain JavaScript without dependencies: it runs before the tests, with nothing but Node.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SERVERS = ['redis-server', 'valkey-server'];
/** Where package managers put servers although PATH may leave it out. */
const MORE_FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

const MANAGERS = [
  { command: 'apt-get', before: ['update'], install: ['install', '-y', 'redis-server'] },
  { command: 'dnf', install: ['install', '-y', 'redis'] },
  { command: 'dnf', install: ['install', '-y', 'valkey'] },
  { command: 'apk', install: ['add', 'redis'] },
  { command: 'brew', install: ['install', 'redis'], asUser: true },
];

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** The path of a Redis server, or undefined. */
export function findRedis() {
  const given = process.env.SLUICE_TEST_REDIS;
  if (given !== undefined && given !== '') return isProgram(given) ? given : undefined;
  for (const name of SERVERS) {
    const path = findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Runs a command with its output on stderr; true if it succeeded. */
function succeeds(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: ['ignore', 2, 2], env }).status === 0;
}

function install() {
  const isRoot = process.getuid?.() === 0;
  const maySudo = !isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  for (const { command, before, install: args, asUser = false } of MANAGERS) {
    if (findProgram(command) === undefined || !(isRoot || maySudo || asUser)) continue;
    const run = (list) =>
      isRoot || asUser
        ? succeeds(command, list)
        : succeeds('sudo', ['-n', 'DEBIAN_FRONTEND=noninteractive', command, ...list]);
    console.error(`sluice: no Redis server found; ${command} ${args.join(' ')}`);
    // An outdated list may still name the package, so a failed update is no reason to give up.
    if (before !== undefined) run(before);
    if (run(args) && findRedis() !== undefined) return;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href && findRedis() === undefined) {
  const given = process.env.SLUICE_TEST_REDIS;
  if (given) {
    console.error(`sluice: SLUICE_TEST_REDIS names no program: ${given}`);
    process.exit(1);
  }
  install();
  if (findRedis() === undefined) {
    console.error(
      'sluice: the tests need a Redis server: install redis-server or valkey-server, or put its path into SLUICE_TEST_REDIS',
    );
    process.exit(1);
  }
}

// Installs and builds what is missing or out of date, and nothing else, so that a second start is quick.
// Plain JavaScript without dependencies: on a clean clone there are none yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  work();
  writeFileSync(stamp, wanted);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`sluice: Node ${process.versions.node} is too old; install Node 20.19 or later`);
  process.exit(1);
}

once(at('node_modules', '.sluice-installed'), [at('package.json'), at('package-lock.json')], () => {
  console.error('sluice: installing dependencies');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']);
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

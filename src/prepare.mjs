// Installs and builds what is missing or out of date, and nothing else, so that a second start is quick.
// Plain JavaScript without dependencies: on a bare clone there are none yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...path) => join(root, ...path);

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(at(file)));
  return hash.digest('hex');
}

/**
 * Makes a folder, unless it says that it is made of these very inputs. It is made in a draft and put in
 * its place in one step. Whoever starts at the same moment makes a draft as well: the first that is done
 * is put there, the others are thrown away. What fails or is interrupted leaves nothing in its place.
 */
function make(folder, inputs, work) {
  const target = at(folder);
  const wanted = digest(inputs);
  const isMade = () => {
    try {
      return readFileSync(join(target, '.made-of'), 'utf8') === wanted;
    } catch {
      return false;
    }
  };
  // Only what was old at first is removed: another process may put a new one there meanwhile.
  const isThere = existsSync(target);
  if (isMade()) return;
  if (isThere) rmSync(target, { recursive: true, force: true });

  const draft = mkdtempSync(at('.sluice-'));
  // Ctrl-C ends npm and tsc too. This process stays, to remove the draft.
  const stay = () => {};
  process.on('SIGINT', stay);
  try {
    work(draft);
    writeFileSync(join(draft, folder, '.made-of'), wanted);
    renameSync(join(draft, folder), target);
  } catch (error) {
    if (!isMade()) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
    process.off('SIGINT', stay);
  }
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  throw new Error(`\`${command} ${args.join(' ')}\` failed${error ? `: ${error.message}` : ''}`);
}

function install(draft) {
  console.error('sluice: installing dependencies');
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(at(file), join(draft, file));
  // The build needs the compiler, also where NODE_ENV=production makes npm leave it out, and
  // `npm pack --dry-run` needs the build.
  const needed = ['--include=dev', '--no-dry-run', '--ignore-scripts'];
  run('npm', ['ci', ...needed, '--no-audit', '--no-fund', '--loglevel=error'], draft);
}

function build(draft) {
  console.error('sluice: building');
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
  const dist = join(draft, 'dist');
  run('node', [compiler, '-p', 'tsconfig.build.json', '--outDir', dist], root);
  const isLua = (file) => statSync(file).isDirectory() || file.endsWith('.lua');
  cpSync(at('src'), dist, { recursive: true, filter: isLua });
}

const sources = readdirSync(at('src'), { recursive: true })
  .filter((file) => /\.(?:ts|lua)$/.test(file))
  .map((file) => join('src', file))
  .sort();
try {
  make('node_modules', ['package-lock.json'], install);
  make('dist', ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...sources], build);
} catch (error) {
  console.error(`sluice: ${error.message}`);
  process.exit(1);
}

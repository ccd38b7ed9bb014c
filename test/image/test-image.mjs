// Builds the container image and tries it for real, as root on Linux and without a container engine.
//   node test/image/test-image.mjs [--install] [--work FOLDER]
// --install brings what is missing with apt-get; --work keeps images in a folder for the next run.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, createBuilder, HOW as HOW_BUILT, makeBase } from './build.mjs';
import { checkImage } from './checks.mjs';
import { HOW as HOW_RUN } from './container.mjs';
import { isInstalled, run } from './run.mjs';

const TOOLS = ['buildah', 'debootstrap', 'unshare', 'setpriv', 'chroot', 'npm', 'tar'];
const PACKAGES = ['buildah', 'debootstrap', 'debian-archive-keyring', 'util-linux', 'tar'];
const project = fileURLToPath(new URL('../..', import.meta.url));

const { values } = parseArgs({
  options: { install: { type: 'boolean', default: false }, work: { type: 'string' } },
});

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const reason = whyNot();
if (reason !== undefined) {
  console.log(`skipped: the container image: ${reason}`);
} else {
  const work = values.work ?? mkdtempSync(join(tmpdir(), 'sluice-image-'));
  mkdirSync(work, { recursive: true });
  try {
    process.exitCode = (await test(work)) ? 0 : 1;
  } finally {
    if (values.work === undefined) rmSync(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Why this machine cannot, or undefined. */
function whyNot() {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid() !== 0) return 'needs root';
  const missing = () => TOOLS.filter((tool) => !isInstalled(tool));
  if (missing().length > 0 && values.install) {
    const options = {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    };
    spawnSync('apt-get', ['update'], options);
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...PACKAGES], options);
  }
  if (missing().length > 0) {
    const hint = values.install ? '' : '; --install gets them where there is apt-get';
    return `no ${missing().join(', no ')}${hint}`;
  }
  const flags = ['--mount', '--pid', '--ipc', '--uts', '--fork', 'true'];
  return spawnSync('unshare', flags).status === 0 ? undefined : 'may not make name spaces here';
}

async function test(work) {
  const buildah = createBuilder(work);
  const name = /^ARG NODE_IMAGE=(\S+)/m.exec(
    readFileSync(join(project, 'Dockerfile'), 'utf8'),
  )?.[1];
  let begin = performance.now();
  const seconds = () => ((performance.now() - begin) / 1000).toFixed(0);
  const node = makeBase(buildah, work, name);
  console.log(
    `base:  ${name}, made here of debootstrap's minbase and Node ${node} (${seconds()} s)`,
  );

  begin = performance.now();
  const config = build(buildah, work, project, 'sluice:test');
  console.log(`image: built by ${HOW_BUILT} (${seconds()} s)`);
  const container = buildah('from', '--pull-never', 'sluice:test');
  try {
    const root = buildah('mount', container);
    console.log(`size:  ${sizes(root, name)}`);
    console.log(`run:   ${HOW_RUN}`);
    return await checkImage({ root, config, work, project, ports: await freePorts(4) });
  } finally {
    buildah('umount', container);
    buildah('rm', container);
  }
}

function sizes(root, name) {
  const bytes = (path) => Number(run('du', ['-sb', join(root, path)]).split('\t')[0]);
  const megabytes = (number) => `${(number / 1e6).toFixed(1)} MB`;
  const [all, app, packages] = ['', 'app', 'app/node_modules'].map(bytes);
  const base = `the rest is ${name} as made here, ${megabytes(all - app)}`;
  return `${megabytes(app)} of Sluice, of which node_modules ${megabytes(packages)}; ${base}`;
}

async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

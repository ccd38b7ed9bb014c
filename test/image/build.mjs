// Builds the image with buildah, which needs no daemon. Its base is made here, under the name of the
// real one, of the same parts: Debian's smallest system, and Node and npm from their npm packages.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

const DEBIAN = 'bookworm';

/** What buildah needs on a machine whose containers may do nothing special. */
export const HOW = '`buildah --storage-driver vfs`, `build --isolation chroot`';

/** A buildah with its images in a folder of ours. */
export function createBuilder(work) {
  const storage = ['--root', join(work, 'images'), '--runroot', join(work, 'run')];
  return (...args) => run('buildah', [...storage, '--storage-driver', 'vfs', ...args]).trim();
}

/** The base under its own name, unless it is there from an earlier run. Returns the version of Node. */
export function makeBase(buildah, work, name) {
  const root = join(work, 'base');
  if (!existsSync(join(work, 'base-is-made'))) {
    rmSync(root, { recursive: true, force: true });
    run('debootstrap', ['--variant=minbase', DEBIAN, root], { stdio: ['ignore', 'ignore', 2] });
    const major = /:(\d+)/.exec(name)?.[1];
    unpack(work, `node-linux-${process.arch}@${major}`, join(root, 'usr/local'), 'package/bin');
    unpack(work, 'npm@11', join(root, 'usr/local/lib/node_modules/npm'), 'package');
    const cli = 'lib/node_modules/npm/bin/npm-cli.js';
    chmodSync(join(root, 'usr/local', cli), 0o755);
    symlinkSync(`../${cli}`, join(root, 'usr/local/bin/npm'));
    const container = buildah('from', 'scratch');
    buildah('copy', '--quiet', container, root, '/');
    // The real base has an entrypoint of its own as well, which the Dockerfile must replace.
    buildah('config', '--entrypoint', '["docker-entrypoint.sh"]', '--cmd', 'node', container);
    buildah('commit', '--quiet', '--rm', container, `docker.io/library/${name}`);
    writeFileSync(join(work, 'base-is-made'), '');
  }
  return run('chroot', [root, 'node', '--version']).trim();
}

/** Unpacks one folder of the newest version of a package that fits. */
function unpack(work, spec, to, folder) {
  mkdirSync(to, { recursive: true });
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', work, spec]));
  const file = join(work, packed.filename);
  run('tar', ['-xzf', file, '-C', to, '--strip-components=1', folder]);
  rmSync(file);
}

/** Builds a Dockerfile's image. A CA of this machine's network is lent to npm and not put into the image. */
export function build(buildah, work, context, tag) {
  const npmrc = join(work, 'npmrc');
  const authority = process.env.NODE_EXTRA_CA_CERTS;
  const lent = ['--volume', `${npmrc}:/usr/local/etc/npmrc:ro`];
  const lines = [`registry=${run('npm', ['config', 'get', 'registry']).trim()}`];
  if (authority) {
    cpSync(authority, join(work, 'authority.pem'));
    lent.push('--volume', `${join(work, 'authority.pem')}:/authority.pem:ro`);
    lines.push('cafile=/authority.pem');
  }
  writeFileSync(npmrc, `${lines.join('\n')}\n`);
  const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--quiet'];
  buildah('build', ...options, ...lent, '--build-arg', 'VERSION=test', '--tag', tag, context);
  const { OCIv1, Docker } = JSON.parse(buildah('inspect', '--type', 'image', tag));
  return { ...OCIv1.config, Healthcheck: Docker.config.Healthcheck };
}

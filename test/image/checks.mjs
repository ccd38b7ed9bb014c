// What must be true of the image. Every check starts containers of it, or looks into its root.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from './container.mjs';
import { createGrpcCheck } from './grpc-check.mjs';
import { run } from './run.mjs';

const BAD_POLICIES = `policies:
  login:
    limits:
      - { algorithm: fixed-perod, quota: 5, period: 1m }
      - { algorithm: fixed-period, quota: -5, period: 1 minute }
`;

/** Runs all checks and says of each how it went; true if all are well. */
export async function checkImage(image) {
  const counts = { passed: 0, failed: 0 };
  for (const [name, check] of checks(image)) {
    try {
      const detail = await check();
      console.log(`ok     ${name}${detail === undefined ? '' : `: ${detail}`}`);
      counts.passed++;
    } catch (error) {
      console.log(`FAILED ${name}: ${error.message}`);
      counts.failed++;
    }
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0;
}

function* checks({ root, config, work, project, ports }) {
  const [http, grpc, admin, closed] = ports;
  const variables = { SLUICE_HTTP_PORT: http, SLUICE_GRPC_PORT: grpc, SLUICE_ADMIN_PORT: admin };
  const container = (options = {}) =>
    start({ root, config, ...options, variables: { ...variables, ...options.variables } });
  const script = (source) => container({ entry: ['node', '-e'], args: [source] }).ended;

  const ask = async (path) => {
    const options = { signal: AbortSignal.timeout(5000) };
    const response = await fetch(`http://127.0.0.1:${admin}${path}`, options);
    return { status: response.status, text: await response.text() };
  };

  /** Serves for as long as `use` takes, and is then ended in good order. */
  const serving = async (use, options) => {
    const service = container(options);
    try {
      await service.says('"msg":"listening"');
      return await use(service);
    } finally {
      const { code, stderr } = await service.end();
      strictEqual(code, 0, `ended with ${code}: ${stderr}`);
    }
  };

  yield [
    'the configuration: user, ports, entry, health check and labels',
    () => {
      strictEqual(config.User, '65532:65532');
      deepStrictEqual(Object.keys(config.ExposedPorts), ['8080/tcp', '8081/tcp', '9090/tcp']);
      deepStrictEqual([config.Entrypoint, config.Cmd], [['node', 'dist/main.js'], ['serve']]);
      deepStrictEqual(config.Healthcheck.Test, ['CMD', 'node', 'healthcheck.mjs']);
      strictEqual(config.Labels['org.opencontainers.image.version'], 'test');
      return Object.keys(config.Labels)
        .filter((label) => label.startsWith('org.opencontainers'))
        .join(', ');
    },
  ];

  yield [
    'only what running takes: no sources, no tools, no cache, nothing of its user',
    () => {
      deepStrictEqual(
        run('ls', [join(root, 'app')])
          .trim()
          .split('\n'),
        ['dist', 'healthcheck.mjs', 'node_modules', 'package.json', 'proto'],
      );
      const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
      const wanted = ([path, { dev, optional }]) => path !== '' && !dev && !optional;
      const isThere = ([path]) => existsSync(join(root, 'app', path));
      const entries = Object.entries(packages);
      deepStrictEqual(
        entries.filter((entry) => wanted(entry) && !isThere(entry)).map(([path]) => path),
        [],
      );
      const tools = entries.filter(([, { dev }]) => dev);
      deepStrictEqual(
        tools.filter(isThere).map(([path]) => path),
        [],
      );
      for (const cache of ['root/.npm', 'root/.cache']) ok(!existsSync(join(root, cache)), cache);
      const writable = [
        '(',
        '-not',
        '-user',
        'root',
        '-o',
        '-perm',
        '/022',
        ')',
        '-not',
        '-type',
        'l',
      ];
      strictEqual(run('find', [join(root, 'app'), join(root, 'etc/sluice'), ...writable]), '');
      return `${entries.filter(isThere).length} packages, none of the ${tools.length} that are for development`;
    },
  ];

  yield [
    'it runs as 65532 without capabilities, and can write nowhere',
    async () => {
      const { code, stdout, stderr } = await script(`
      const { readFileSync, writeFileSync } = require('node:fs');
      const status = readFileSync('/proc/self/status', 'utf8');
      const read = (name) => new RegExp(name + ':[\\\\t ]*(.*)').exec(status)[1].replace(/\\s+/g, ' ');
      const refused = ['/app/x', '/tmp/x', '/etc/sluice/policies/x', '/x'].map((path) => {
        try { writeFileSync(path, ''); return path } catch ({ code }) { return code }
      });
      const names = ['Uid', 'Gid', 'Groups', 'CapEff', 'CapBnd', 'NoNewPrivs'];
      console.log(process.pid, ...names.map((name) => name + '=' + read(name)), refused.join(' '));
    `);
      strictEqual(code, 0, stderr);
      match(
        stdout,
        /^1 Uid=65532 65532 65532 65532 Gid=65532 65532 65532 65532 Groups= CapEff=0{16} CapBnd=0{16} NoNewPrivs=1 EROFS EROFS EROFS EROFS\n$/,
      );
      return stdout.trim();
    },
  ];

  yield [
    'with nothing set but its ports it is alive, ready and scraped, and logs JSON',
    () =>
      serving(async (service) => {
        for (const path of ['/livez', '/readyz']) {
          deepStrictEqual(await ask(path), { status: 200, text: 'ok\n' });
        }
        match((await ask('/metrics')).text, /^sluice_store_up 1$/m);
        const status = readFileSync(`/proc/${service.pid()}/status`, 'utf8');
        match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
        return `${/^VmRSS:\s*(.*)$/m.exec(status)?.[1]} resident`;
      }),
  ];

  yield [
    'a Check is decided over REST and over gRPC, from the same quota',
    () =>
      serving(async () => {
        const check = { policy: 'login', key: 'user-1' };
        const response = await fetch(`http://127.0.0.1:${http}/v1/check`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(check),
          signal: AbortSignal.timeout(5000),
        });
        const { allowed, remaining } = await response.json();
        deepStrictEqual([response.status, allowed, remaining], [200, true, 4]);
        const answer = await createGrpcCheck(project, `127.0.0.1:${grpc}`)(check);
        deepStrictEqual([answer.allowed, answer.remaining], [true, 3]);
        return 'remaining 4, then 3';
      }),
  ];

  yield [
    'a Check is decided over a Unix socket in a mounted folder',
    () => {
      const folder = join(work, 'socket');
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      mkdirSync(join(root, 'run/sluice'), { recursive: true });
      chownSync(folder, 65532, 65532);
      return serving(
        async () => {
          const call = createGrpcCheck(project, `unix:${join(folder, 'sluice.sock')}`);
          strictEqual((await call({ policy: 'login', key: 'user-1' })).remaining, 4);
        },
        {
          variables: { SLUICE_GRPC_SOCKET: '/run/sluice/sluice.sock' },
          mounts: [`${folder}:/run/sluice`],
        },
      );
    },
  ];

  yield [
    'the health check follows the port and tells alive from dead',
    () =>
      serving(async () => {
        const healthcheck = (more) =>
          container({ entry: config.Healthcheck.Test.slice(1), args: [], variables: more }).ended;
        strictEqual((await healthcheck({})).code, 0);
        const dead = await healthcheck({ SLUICE_ADMIN_PORT: closed });
        strictEqual(dead.code, 1);
        return `exit 0; on a closed port exit 1, "${dead.stderr.trim()}"`;
      }),
  ];

  yield [
    'without its Redis it is alive but not ready, and stays',
    () =>
      serving(
        async () => {
          const { status, text } = await ask('/readyz');
          strictEqual(status, 503);
          strictEqual((await ask('/livez')).status, 200);
          return text.trim().replaceAll('\n', '; ');
        },
        { variables: { SLUICE_REDIS_URL: 'redis://127.0.0.1:1' } },
      ),
  ];

  yield [
    'SIGTERM reaches node as process 1 and it ends with 0',
    async () => {
      const service = container();
      await service.says('"msg":"listening"');
      const { code, ms, stdout } = await service.end('SIGTERM');
      strictEqual(code, 0);
      ok(ms < 2000, `took ${ms} ms`);
      match(stdout, /"signal":"SIGTERM".*\n.*"msg":"stopped"/);
      for (const line of stdout.trim().split('\n')) JSON.parse(line);
      return `after ${ms} ms`;
    },
  ];

  yield [
    'policies with mistakes end it with 1 and all of the mistakes',
    async () => {
      const folder = join(work, 'bad-policies');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'policies.yaml'), BAD_POLICIES);
      const { code, stderr } = await container({ mounts: [`${folder}:/etc/sluice/policies`] })
        .ended;
      strictEqual(code, 1);
      const lines = stderr.trim().split('\n');
      for (const part of ['fixed-perod', 'quota', 'period']) match(stderr, new RegExp(part));
      return `\n         ${lines.join('\n         ')}`;
    },
  ];

  yield [
    'other commands run as well',
    async () => {
      const { code, stdout } = await container({ args: ['validate', '/etc/sluice/policies'] })
        .ended;
      strictEqual(code, 0);
      return stdout.trim();
    },
  ];
}

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/mistakes.js';
import { type Flags, loadSettings, settingList } from '../../src/config/settings.js';

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-settings-')), 'sluice.yaml');
  writeFileSync(file, text);
  return file;
}

function mistakes(flags: Flags, environment: Record<string, string>): string[] {
  try {
    loadSettings({ config: fileWith('{}'), ...flags }, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

function redisOf(environment: Record<string, string>) {
  const { store } = loadSettings({ config: fileWith('{}') }, environment);
  if (store.kind !== 'redis') throw new Error('not redis');
  return store.redis;
}

describe('settings', () => {
  it('need no file and no variable', () => {
    const settings = loadSettings({ config: fileWith('{}') }, {});
    expect(settings).toMatchObject({
      policies: 'config/policies',
      http: { host: '127.0.0.1', port: 8080 },
      grpc: { host: '127.0.0.1', port: 8081 },
      admin: { host: '127.0.0.1', port: 9090 },
      store: { kind: 'memory' },
    });
  });

  it('take a flag before a variable, and a variable before the file', () => {
    const config = fileWith('http: { port: 1, host: file }\ngrpc: { port: 1 }\nadmin: { port: 1 }');
    const environment = { SLUICE_CONFIG: config, SLUICE_HTTP_PORT: '2', SLUICE_GRPC_PORT: '2' };
    const settings = loadSettings({ 'http-port': '3' }, environment);
    expect(settings.http).toEqual({ host: 'file', port: 3 });
    expect(settings.grpc.port).toBe(2);
    expect(settings.admin.port).toBe(1);
  });

  it('have the names that others rely on', () => {
    expect(['SLUICE_CONFIG', ...settingList.map(({ variable }) => variable)]).toEqual(
      expect.arrayContaining([
        'SLUICE_CONFIG',
        'SLUICE_POLICIES',
        'SLUICE_HTTP_HOST',
        'SLUICE_HTTP_PORT',
        'SLUICE_GRPC_HOST',
        'SLUICE_GRPC_PORT',
        'SLUICE_GRPC_SOCKET',
        'SLUICE_ADMIN_HOST',
        'SLUICE_ADMIN_PORT',
        'SLUICE_STORE',
        'SLUICE_REDIS_URL',
        'SLUICE_REDIS_SENTINELS',
        'SLUICE_REDIS_SENTINEL_NAME',
        'SLUICE_REDIS_PREFIX',
        'SLUICE_REDIS_TIMEOUT_MS',
        'SLUICE_LOG_LEVEL',
      ]),
    );
  });

  it('read one URL, several, Sentinels, and what comes with them', () => {
    expect(redisOf({ SLUICE_REDIS_URL: 'rediss://me:p%40ss@redis.example:6380/3' })).toEqual({
      mode: 'single',
      nodes: [{ host: 'redis.example', port: 6380 }],
      username: 'me',
      password: 'p@ss',
      database: 3,
      tls: {},
      prefix: 'sluice',
      timeoutMs: 50,
    });
    expect(redisOf({ SLUICE_REDIS_URL: 'redis://a:1,redis://[::1]:2' })).toMatchObject({
      mode: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: '::1', port: 2 },
      ],
    });
    expect(redisOf({ SLUICE_REDIS_URL: 'redis://a', SLUICE_REDIS_CLUSTER: 'true' })).toMatchObject({
      mode: 'cluster',
      nodes: [{ host: 'a', port: 6379 }],
    });
    expect(
      redisOf({ SLUICE_REDIS_SENTINELS: 'a:1, b:2', SLUICE_REDIS_SENTINEL_NAME: 'main' }),
    ).toMatchObject({
      mode: 'sentinel',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      sentinel: { name: 'main' },
    });
  });

  it('show every mistake at once, each under the name it was given by', () => {
    expect(
      mistakes(
        { 'http-port': 'eighty' },
        {
          SLUICE_GRPC_PORT: '70000',
          SLUICE_STORE: 'disk',
          SLUICE_HTTP_PROT: '1',
          SLUICE_REDIS_PREFIX: '{x}',
        },
      ),
    ).toEqual([
      'SLUICE_HTTP_PROT: unknown setting (did you mean SLUICE_HTTP_PORT or SLUICE_HTTP_HOST?)',
      '--http-port: wanted a number, got "eighty"',
      'SLUICE_GRPC_PORT: wanted at most 65535, got 70000',
      'SLUICE_STORE: wanted memory or redis, got "disk"',
      'SLUICE_REDIS_PREFIX: wanted 1 to 64 letters, digits and . _ -, got "{x}"',
    ]);
  });

  it('show mistakes of the file with line and path, and never a password', () => {
    const config = fileWith('http:\n  prot: 1\nredis:\n  url: http://me:secret@x\n');
    expect(() => loadSettings({ config }, {})).toThrow(
      `${config}:2:3: http.prot: unknown field (did you mean port?); wanted one of host, port`,
    );
    const [mistake] = mistakes({}, { SLUICE_REDIS_URL: 'http://me:secret@x' });
    expect(mistake).toBe(
      'SLUICE_REDIS_URL: wanted redis://[user:password@]host:port[/database] or rediss://...',
    );
  });

  it.each([
    [{ SLUICE_STORE: 'redis' }, 'redis.url: wanted redis.url or redis.sentinels for store: redis'],
    [{ SLUICE_REDIS_SENTINELS: 'a:1' }, 'redis.sentinelName: wanted the name'],
    [
      { SLUICE_REDIS_SENTINELS: 'a', SLUICE_REDIS_SENTINEL_NAME: 'x' },
      'SLUICE_REDIS_SENTINELS: wanted host:port, got "a"',
    ],
    [
      { SLUICE_REDIS_SENTINELS: 'a:1', SLUICE_REDIS_URL: 'redis://a' },
      'wanted either redis.url or redis.sentinels, got both',
    ],
    [{ SLUICE_REDIS_URL: 'redis://a/1,redis://b/1' }, 'redis.database: wanted 0'],
    [
      { SLUICE_REDIS_URL: 'rediss://a', SLUICE_REDIS_TLS_CERT: 'test/redis/tls/client.pem' },
      'redis.tls: wanted cert and key together',
    ],
    [
      { SLUICE_REDIS_URL: 'rediss://a', SLUICE_REDIS_TLS_CA: '/no.pem' },
      'SLUICE_REDIS_TLS_CA: wanted a PEM file (ENOENT',
    ],
    [{ SLUICE_REDIS_TIMEOUT_MS: '0' }, 'SLUICE_REDIS_TIMEOUT_MS: wanted at least 1, got 0'],
    [{ SLUICE_CONFIG: '/nowhere.yaml' }, '/nowhere.yaml: cannot read it'],
  ])('refuse what does not fit together: %j', (environment, mistake) => {
    expect(
      mistakes('SLUICE_CONFIG' in environment ? { config: undefined } : {}, environment).join('\n'),
    ).toContain(mistake);
  });

  it('are not misled by the variables that Kubernetes sets for a Service called sluice', () => {
    expect(
      mistakes(
        {},
        {
          SLUICE_PORT: 'tcp://10.0.0.1:8080',
          SLUICE_SERVICE_HOST: '10.0.0.1',
          SLUICE_SERVICE_PORT_HTTP: '8080',
          SLUICE_PORT_8080_TCP_ADDR: '10.0.0.1',
          SLUICE_GRPC_PORT: 'tcp://10.0.0.1:8081',
        },
      ),
    ).toEqual([]);
  });
});

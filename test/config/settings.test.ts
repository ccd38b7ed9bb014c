import { describe, expect, it } from 'vitest';
import { type Flags, loadSettings, settingList } from '../../src/config/settings.js';
import { ConfigError } from '../../src/diagnostics/mistakes.js';
import { tempFile } from '../kit/files.js';

function fileWith(yaml: string): string {
  return tempFile('sluice.yaml', yaml);
}

/** The lines of the ConfigError that these settings cause. Without `config`, the file is empty. */
function mistakes(flags: Flags, environment: Record<string, string>): string[] {
  try {
    loadSettings({ config: fileWith('{}'), ...flags }, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** The resolved settings of Redis. */
function redisOf(environment: Record<string, string>) {
  const { store } = loadSettings({ config: fileWith('{}') }, environment);
  if (store.kind !== 'redis') throw new Error('not redis');
  return store.redis;
}

const ADDRESS_WANTED = 'wanted redis.url or redis.sentinels as well, or store: memory';
const DATABASE_WANTED = 'wanted only a database number from 0 to 65535 after the / of the URL';
const PLAIN_WANTED = 'wanted a URL without ? and #; in a password, write them as %3F and %23';
const SAME_WANTED = 'wanted the same user, password and protocol in all URLs';

describe('settings', () => {
  it('have defaults, so that no file and no variable is needed', () => {
    const settings = loadSettings({ config: fileWith('{}') }, {});
    expect(settings).toMatchObject({
      policies: 'config/policies',
      http: { host: '127.0.0.1', port: 8080 },
      grpc: { host: '127.0.0.1', port: 8081 },
      admin: { host: '127.0.0.1', port: 9090 },
      store: { kind: 'memory' },
    });
  });

  it('prefer a flag to a variable, and a variable to the file', () => {
    const config = fileWith('http: { port: 1, host: file }\ngrpc: { port: 1 }\nadmin: { port: 1 }');
    const environment = { SLUICE_CONFIG: config, SLUICE_HTTP_PORT: '2', SLUICE_GRPC_PORT: '2' };
    const settings = loadSettings({ 'http-port': '3' }, environment);
    expect(settings.http).toEqual({ host: 'file', port: 3 });
    expect(settings.grpc.port).toBe(2);
    expect(settings.admin.port).toBe(1);
  });

  it('keep the variable names that deployments rely on', () => {
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

  it('resolve one URL, several URLs, or Sentinels', () => {
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

  it('report every mistake at once, each with the flag or variable that caused it', () => {
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

  it('report mistakes in the file with line and path, and never show a password', () => {
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
    ['redis://me:secret@h/mydb', DATABASE_WANTED],
    ['redis://me:secret@h/-1', DATABASE_WANTED],
    ['redis://me:secret@h/65536', DATABASE_WANTED],
    ['redis://me:secret@h/9999999999999999999999', DATABASE_WANTED],
    ['redis://me:secret@h/1/2', DATABASE_WANTED],
    ['redis://me:secret@h?db=3', PLAIN_WANTED],
    ['redis://me:secret@h/3#x', PLAIN_WANTED],
    ['redis://me:secret@a/x,redis://me:secret@b/y', DATABASE_WANTED],
    ['redis://:pa%ss@h', 'wanted each % in the user or password of the URL to be written as %25'],
    ['redis://me:secret@a,redis://me:other@b', SAME_WANTED],
    ['redis://me:secret@a,redis://you:secret@b', SAME_WANTED],
    ['redis://me:secret@a,rediss://me:secret@b', SAME_WANTED],
  ])(
    'reject a URL with a part that would be ignored or misread, without showing it: %s',
    (url, mistake) => {
      expect(mistakes({}, { SLUICE_REDIS_URL: url })).toEqual([`SLUICE_REDIS_URL: ${mistake}`]);
    },
  );

  it('accept a URL that ends in a slash or in the highest database number', () => {
    expect(redisOf({ SLUICE_REDIS_URL: 'redis://h/' }).database).toBe(0);
    expect(redisOf({ SLUICE_REDIS_URL: 'redis://h/65535' }).database).toBe(65_535);
  });

  it('reject an empty list of Sentinels and an empty sentinelName', () => {
    const config = fileWith('redis: { sentinels: [], sentinelName: main }');
    expect(mistakes({ config }, {})).toEqual([
      `${config}:1:10: redis.sentinels: wanted a list of at least 1 item, got []`,
    ]);
    const nameless = fileWith('redis: { sentinels: ["a:1"], sentinelName: "" }');
    expect(mistakes({ config: nameless }, {})).toEqual([
      `${nameless}:1:30: redis.sentinelName: wanted at least 1 character, got ""`,
    ]);
  });

  it('of Redis need no address if the store is set to memory', () => {
    const environment = { SLUICE_REDIS_TIMEOUT_MS: '20', SLUICE_REDIS_CLUSTER: 'true' };
    expect(mistakes({}, { ...environment, SLUICE_STORE: 'memory' })).toEqual([]);
    expect(mistakes({}, { SLUICE_REDIS_CLUSTER: 'false' })).toEqual([]);
  });

  it.each([
    ['- a', 'a list of 1 item'],
    ['SLUICE_REDIS_URL=redis://:secret@h', 'a string'],
    ['5', '5'],
  ])('reject a file that is not a map, without showing its content: %s', (text, got) => {
    const config = fileWith(text);
    expect(mistakes({ config }, {})).toEqual([`${config}:1:1: wanted a map of fields, got ${got}`]);
  });

  it.each(['', '# nothing', 'null', '{}'])('accept an empty file: %j', (text) => {
    expect(mistakes({ config: fileWith(text) }, {})).toEqual([]);
  });

  it('reject an alias inside the node that it refers to, and accept other aliases', () => {
    const config = fileWith('redis: &a {tls: *a, nope: 1}');
    expect(mistakes({ config }, {})).toEqual([
      `${config}:1:17: the alias *a refers to a node that contains it`,
    ]);
    const shared = fileWith('http: &a { port: 0 }\ngrpc: *a\n');
    expect(mistakes({ config: shared }, {})).toEqual([]);
  });

  it('report a field given twice together with the other mistakes of the file', () => {
    const config = fileWith('http: { port: 1, port: a }\nnope: 1\n');
    expect(mistakes({ config }, {})).toEqual([
      `${config}:1:18: the field port is given twice in one map; wanted once`,
      `${config}:1:18: http.port: wanted a number, got "a"`,
      expect.stringContaining(`${config}:2:1: nope: unknown field; wanted one of policies, http`),
    ]);
    const twice = fileWith('store: memory\nstore: memory\n');
    expect(mistakes({ config: twice }, {})).toEqual([
      `${twice}:2:1: the field store is given twice in one map; wanted once`,
    ]);
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
    [{ SLUICE_REDIS_SENTINEL_NAME: 'main' }, `SLUICE_REDIS_SENTINEL_NAME: ${ADDRESS_WANTED}`],
    [{ SLUICE_REDIS_CLUSTER: 'true' }, `SLUICE_REDIS_CLUSTER: ${ADDRESS_WANTED}`],
    [
      { SLUICE_REDIS_TLS_CA: 'test/redis/tls/ca.pem', SLUICE_REDIS_PASSWORD: 'x' },
      `SLUICE_REDIS_PASSWORD: ${ADDRESS_WANTED}\nSLUICE_REDIS_TLS_CA: ${ADDRESS_WANTED}`,
    ],
    [
      { SLUICE_REDIS_SENTINELS: 'a:65536', SLUICE_REDIS_SENTINEL_NAME: 'x' },
      'SLUICE_REDIS_SENTINELS: wanted a port from 1 to 65535, got "a:65536"',
    ],
    [{ SLUICE_REDIS_URL: 'redis://a,redis://b/3' }, 'redis.database: wanted 0, the only database'],
    [{ SLUICE_REDIS_TIMEOUT_MS: '0' }, 'SLUICE_REDIS_TIMEOUT_MS: wanted at least 1, got 0'],
    [{ SLUICE_CONFIG: '/nowhere.yaml' }, '/nowhere.yaml: cannot read the file: ENOENT'],
  ])('reject wrong, missing or contradictory settings: %j', (environment, mistake) => {
    expect(
      mistakes('SLUICE_CONFIG' in environment ? { config: undefined } : {}, environment).join('\n'),
    ).toContain(mistake);
  });

  it('ignore the variables that Kubernetes sets for a Service named sluice', () => {
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

  it('do not take a flag, or a variable that is not a port, for a Kubernetes link', () => {
    const link = 'tcp://127.0.0.1:6379';
    const mistake = 'wanted redis://[user:password@]host:port[/database] or rediss://...';
    expect(mistakes({}, { SLUICE_REDIS_URL: link })).toEqual([`SLUICE_REDIS_URL: ${mistake}`]);
    expect(mistakes({ 'redis-url': link }, {})).toEqual([`--redis-url: ${mistake}`]);
    expect(mistakes({ 'http-port': link }, { SLUICE_HTTP_PORT: link })).toEqual([
      `--http-port: wanted a number, got "${link}"`,
    ]);
    expect(mistakes({}, { SLUICE_ELSEWHERE: link })).toEqual(['SLUICE_ELSEWHERE: unknown setting']);
    expect(mistakes({}, { SLUICE_SERVICE_HOSTS: 'a' })).toEqual([
      'SLUICE_SERVICE_HOSTS: unknown setting (did you mean SLUICE_GRPC_HOST?)',
    ]);
  });
});

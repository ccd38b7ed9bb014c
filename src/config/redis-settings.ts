import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf, show } from '../diagnostics/issues.js';

/** Where Redis is and how to connect to it, however the settings were written. */
export interface RedisSettings {
  mode: 'single' | 'sentinel' | 'cluster';
  /** The server, the Sentinels, or the seed nodes of the Cluster. */
  nodes: { host: string; port: number }[];
  sentinel?: { name: string; password?: string };
  username?: string;
  password?: string;
  database: number;
  /** PEM texts. TLS is used if this is present, even as `{}`. */
  tls?: { ca?: string; cert?: string; key?: string; servername?: string };
  prefix: string;
  timeoutMs: number;
}

/** Parses the name of a PEM file to the text of the file. */
const pemFile = z.string().transform((file, context) => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = `wanted a PEM file (${messageOf(error)})`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
});
/** A YAML list, or a comma-separated string, which is the form for variables and flags. */
const list = z.union([z.array(z.string()), z.string().transform((text) => text.split(','))]);

export const redisSchema = z.strictObject({
  url: list
    .optional()
    .describe(
      '`redis://[user:password@]host:port[/database]`, or `rediss://` for TLS; for a Cluster, several seed nodes separated by commas',
    ),
  cluster: z
    .boolean()
    .default(false)
    .describe('treat a single URL as a seed node of a Redis Cluster'),
  sentinels: list
    .optional()
    .describe('addresses of the Sentinels as `host:port`, separated by commas'),
  sentinelName: z
    .string()
    .min(1)
    .optional()
    .describe('name of the primary in the Sentinel configuration'),
  sentinelPassword: z.string().optional().describe('password of the Sentinels'),
  username: z.string().optional().describe('ACL user, unless it is in the URL'),
  password: z.string().optional().describe('password, unless it is in the URL'),
  database: z
    .int()
    .min(0)
    .max(65_535)
    .default(0)
    .describe('database number; must be 0 for a Cluster'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'wanted 1 to 64 letters, digits and . _ -' })
    .default('sluice')
    .describe('prefix of all state keys'),
  timeoutMs: z
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('maximum time that a check waits for Redis, in milliseconds'),
  tls: z.strictObject({
    ca: pemFile.optional().describe('PEM file with the CA that signed the certificate of Redis'),
    cert: pemFile.optional().describe('PEM file with a client certificate'),
    key: pemFile.optional().describe('PEM file with the private key of the client certificate'),
    servername: z
      .string()
      .optional()
      .describe('host name in the certificate of Redis, if it is not the host of the address'),
  }),
});

type Given = z.output<typeof redisSchema>;
/** Reports a mistake in the setting at a path inside `redis`. */
type Report = (path: string[], message: string) => void;

/**
 * Combines the given settings. Reports every mistake. Returns undefined if the settings name no
 * address, or two kinds of address.
 */
export function resolveRedis(given: Given, report: Report): RedisSettings | undefined {
  if (given.url !== undefined && given.sentinels !== undefined) {
    report(['sentinels'], 'wanted either redis.url or redis.sentinels, got both');
    return undefined;
  }
  if ((given.tls.cert === undefined) !== (given.tls.key === undefined)) {
    report(['tls'], 'wanted cert and key together');
  }
  if (given.sentinels !== undefined) return resolveSentinels(given, given.sentinels, report);
  if (given.url !== undefined) return resolveUrls(given, given.url, report);
  report(['url'], 'wanted redis.url or redis.sentinels for store: redis');
  return undefined;
}

function resolveSentinels(given: Given, texts: string[], report: Report) {
  if (texts.length === 0) report(['sentinels'], 'wanted a list of at least 1 item, got []');
  const nodes = texts.flatMap((text) => {
    const match = /^(?:\[([^\]]+)\]|([^\s:]+)):(\d{1,5})$/.exec(text.trim());
    const port = Number(match?.[3]);
    if (match === null) report(['sentinels'], `wanted host:port, got ${show(text)}`);
    else if (port < 1 || port > 65_535) {
      report(['sentinels'], `wanted a port from 1 to 65535, got ${show(text)}`);
    }
    return match === null ? [] : [{ host: match[1] ?? match[2] ?? '', port }];
  });
  if (given.sentinelName === undefined) {
    report(['sentinelName'], 'wanted the name of the primary in the Sentinel configuration');
    return undefined;
  }
  const { sentinelName: name, sentinelPassword: password } = given;
  return {
    ...connectionSettings(given, NO_URL),
    mode: 'sentinel' as const,
    nodes,
    sentinel: { name, ...(password === undefined ? {} : { password }) },
  };
}

/** The parts of one URL. */
interface RedisUrl {
  protocol: string;
  host: string;
  port: number;
  username: string;
  password: string;
  database: number | undefined;
}
const NO_URL = { protocol: '', username: '', password: '', database: undefined };

function resolveUrls(given: Given, texts: string[], report: Report): RedisSettings | undefined {
  const parsed = texts.map((text) => parseUrl(text.trim()));
  const urls = parsed.filter((url) => typeof url !== 'string');
  const [first] = urls;
  // URLs may contain passwords, so they are never shown. Equal messages are reported once.
  const messages = new Set(
    texts.length === 0 ? [URL_WANTED] : parsed.filter((url) => typeof url === 'string'),
  );
  for (const message of messages) report(['url'], message);
  if (first === undefined || messages.size > 0) return undefined;
  const differ = urls.some((url) =>
    (['protocol', 'username', 'password'] as const).some((part) => url[part] !== first[part]),
  );
  if (differ) report(['url'], 'wanted the same user, password and protocol in all URLs');
  const mode = given.cluster || urls.length > 1 ? 'cluster' : 'single';
  const settings = connectionSettings(given, first);
  const databases = [settings.database, ...urls.map(({ database = 0 }) => database)];
  const nonZero = databases.find((database) => database !== 0);
  if (mode === 'cluster' && nonZero !== undefined) {
    report(['database'], `wanted 0, the only database of a Cluster, got ${nonZero}`);
  }
  return { ...settings, mode, nodes: urls.map(({ host, port }) => ({ host, port })) };
}

const URL_WANTED = 'wanted redis://[user:password@]host:port[/database] or rediss://...';

/** Returns the parts of a URL, or a message that says what was wanted instead. */
function parseUrl(text: string): RedisUrl | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || !url.hostname) return URL_WANTED;
  if (url.search !== '' || url.hash !== '') {
    return 'wanted a URL without ? and #; in a password, write them as %3F and %23';
  }
  const digits = /^\/?(\d*)$/.exec(url.pathname)?.[1];
  if (digits === undefined || Number(digits) > 65_535) {
    return 'wanted only a database number from 0 to 65535 after the / of the URL';
  }
  try {
    return {
      protocol: url.protocol,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || 6379),
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: digits === '' ? undefined : Number(digits),
    };
  } catch {
    return 'wanted each % in the user or password of the URL to be written as %25';
  }
}

/** Returns what all modes have in common. The URL takes precedence over the other settings. */
function connectionSettings(given: Given, url: Omit<RedisUrl, 'host' | 'port'>) {
  const username = url.username || given.username;
  const password = url.password || given.password;
  const wantsTls = Object.values(given.tls).some((value) => value !== undefined);
  const { ca, cert, key, servername } = given.tls;
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
  return {
    database: url.database ?? given.database,
    prefix: given.prefix,
    timeoutMs: given.timeoutMs,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(url.protocol === 'rediss:' || wantsTls ? { tls } : {}),
  };
}

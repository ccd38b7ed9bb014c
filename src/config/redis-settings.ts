import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf, show } from '../diagnostics/issues.js';

/** Where Redis is and how to speak with it, whatever way it was written down. */
export interface RedisSettings {
  mode: 'single' | 'sentinel' | 'cluster';
  /** The server; or the Sentinels; or some nodes of the Cluster. */
  nodes: { host: string; port: number }[];
  sentinel?: { name: string; password?: string };
  username?: string;
  password?: string;
  database: number;
  /** PEM texts; present, if only as `{}`, where TLS is spoken. */
  tls?: { ca?: string; cert?: string; key?: string; servername?: string };
  prefix: string;
  timeoutMs: number;
}

/** The name of a PEM file; becomes what is in it. */
const pemFile = z.string().transform((file, context) => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    context.addIssue({ code: 'custom', message: `wanted a PEM file (${reason})` });
    return z.NEVER;
  }
});
/** A list in YAML, or one text with commas, which is also how variables and flags say it. */
const list = z.union([z.array(z.string()), z.string().transform((text) => text.split(','))]);

export const redisSchema = z.strictObject({
  url: list
    .optional()
    .describe(
      '`redis://[user:password@]host:port[/database]`, `rediss://` for TLS; several, comma-separated, for a Cluster',
    ),
  cluster: z
    .boolean()
    .default(false)
    .describe('the one URL is a node of a Cluster, which tells of the others'),
  sentinels: list.optional().describe('`host:port` of the Sentinels, comma-separated'),
  sentinelName: z
    .string()
    .min(1)
    .optional()
    .describe('the name by which the Sentinels know the primary'),
  sentinelPassword: z.string().optional().describe('the password of the Sentinels themselves'),
  username: z.string().optional().describe('ACL user, if not in the URL'),
  password: z.string().optional().describe('password, if not in the URL'),
  database: z.int().min(0).max(65_535).default(0).describe('database number; a Cluster has only 0'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'wanted 1 to 64 letters, digits and . _ -' })
    .default('sluice')
    .describe('what the names of all state keys begin with'),
  timeoutMs: z
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('the longest that a check waits for Redis, in milliseconds'),
  tls: z.strictObject({
    ca: pemFile.optional().describe('PEM file of the CA that signed the certificate of Redis'),
    cert: pemFile.optional().describe('PEM file of a client certificate'),
    key: pemFile.optional().describe('PEM file of its key'),
    servername: z
      .string()
      .optional()
      .describe('the name to find in the certificate of Redis, if not the host'),
  }),
});

type Given = z.output<typeof redisSchema>;
/** Reports what is wrong with the setting at a path inside of `redis`. */
type Report = (path: string[], message: string) => void;

/** All that was given as one RedisSettings; or undefined, with the reasons reported. */
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
  if (texts.length === 0) report(['sentinels'], 'wanted a list of at least 1, got []');
  const nodes = texts.flatMap((text) => {
    const match = /^(?:\[([^\]]+)\]|([^\s:]+)):(\d{1,5})$/.exec(text.trim());
    const port = Number(match?.[3]);
    if (match === null) report(['sentinels'], `wanted host:port, got ${show(text)}`);
    else if (port < 1 || port > 65_535) {
      report(['sentinels'], `wanted a port of 1 to 65535, got ${show(text)}`);
    }
    return match === null ? [] : [{ host: match[1] ?? match[2] ?? '', port }];
  });
  if (given.sentinelName === undefined) {
    report(['sentinelName'], 'wanted the name by which the Sentinels know the primary');
    return undefined;
  }
  const { sentinelName: name, sentinelPassword: password } = given;
  return {
    ...shared(given, NO_URL),
    mode: 'sentinel' as const,
    nodes,
    sentinel: { name, ...(password === undefined ? {} : { password }) },
  };
}

/** What one URL says. */
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
  const read = texts.map((text) => readUrl(text.trim()));
  const urls = read.filter((url) => typeof url !== 'string');
  const [first] = urls;
  // The URLs may hold a password, so they are not shown; two that are alike wrong are told as one.
  const wrong = new Set(
    texts.length === 0 ? [URL_WANTED] : read.filter((url) => typeof url === 'string'),
  );
  for (const message of wrong) report(['url'], message);
  if (first === undefined || wrong.size > 0) return undefined;
  const differ = urls.some((url) =>
    (['protocol', 'username', 'password'] as const).some((part) => url[part] !== first[part]),
  );
  if (differ) report(['url'], 'wanted the same user, password and protocol in all URLs');
  const mode = given.cluster || urls.length > 1 ? 'cluster' : 'single';
  const settings = shared(given, first);
  const databases = [settings.database, ...urls.map(({ database = 0 }) => database)];
  const other = databases.find((database) => database !== 0);
  if (mode === 'cluster' && other !== undefined) {
    report(['database'], `wanted 0, the only database of a Cluster, got ${other}`);
  }
  return { ...settings, mode, nodes: urls.map(({ host, port }) => ({ host, port })) };
}

const URL_WANTED = 'wanted redis://[user:password@]host:port[/database] or rediss://...';

/** Reads a URL, or says what was wanted of it. */
function readUrl(text: string): RedisUrl | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || !url.hostname) return URL_WANTED;
  if (url.search !== '' || url.hash !== '') {
    return 'wanted a URL without ? and #; in a password they are written %3F and %23';
  }
  const digits = /^\/?(\d*)$/.exec(url.pathname)?.[1];
  if (digits === undefined || Number(digits) > 65_535) {
    return 'wanted nothing but a database number of 0 to 65535 after the / of the URL';
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
    return 'wanted % of a user or password in the URL to be written %25';
  }
}

/** What the URL says goes before what other settings say. */
function shared(given: Given, url: Omit<RedisUrl, 'host' | 'port'>) {
  const username = url.username || given.username;
  const password = url.password || given.password;
  const files = Object.values(given.tls).some((file) => file !== undefined);
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
    ...(url.protocol === 'rediss:' || files ? { tls } : {}),
  };
}

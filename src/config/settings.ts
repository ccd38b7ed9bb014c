import { existsSync } from 'node:fs';
import { z } from 'zod';
import { explainIssue, valueAt } from './issues.js';
import { ConfigError, type Mistake } from './mistakes.js';
import { didYouMean } from './near.js';
import { type RedisSettings, redisSchema, resolveRedis } from './redis-settings.js';
import { readYamlFile, type YamlFile } from './yaml-file.js';

export type { RedisSettings } from './redis-settings.js';

const DEFAULT_FILE = 'config/sluice.yaml';

const host = (what: string) =>
  z.string().min(1).default('127.0.0.1').describe(`address for ${what} to listen on`);
const port = (number: number, what: string) =>
  z.int().min(0).max(65_535).default(number).describe(`port of ${what}; 0 takes a free one`);

const schema = z.strictObject({
  policies: z
    .string()
    .min(1)
    .default('config/policies')
    .describe('YAML file of policies, or folder of such files'),
  http: z.strictObject({ host: host('REST'), port: port(8080, 'REST') }),
  grpc: z.strictObject({
    host: host('gRPC'),
    port: port(8081, 'gRPC'),
    socket: z.string().min(1).optional().describe('Unix socket that gRPC listens on as well'),
  }),
  admin: z.strictObject({
    host: host('health and metrics'),
    port: port(9090, 'health and metrics'),
  }),
  store: z
    .enum(['memory', 'redis'])
    .optional()
    .describe('where state lives; redis if an address of Redis is given, else memory'),
  memory: z.strictObject({
    maxKeys: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(1_000_000)
      .describe('state keys that the embedded store holds at most'),
  }),
  redis: redisSchema,
  log: z.strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info')
      .describe('least level that is logged'),
    format: z
      .enum(['auto', 'json', 'pretty'])
      .default('auto')
      .describe('auto is pretty in a terminal and JSON elsewhere'),
    keys: z
      .enum(['digest', 'plain'])
      .default('digest')
      .describe('whether keys of callers are logged as a short digest or as they are'),
  }),
  shutdown: z.strictObject({
    delayMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(0)
      .describe('how long to go on serving after SIGTERM, so that load balancers notice'),
    graceMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(10_000)
      .describe('how long running calls may take to finish after that'),
  }),
});

type Parsed = z.output<typeof schema>;
export type Settings = Omit<Parsed, 'store' | 'redis'> & {
  store: { kind: 'memory' } | { kind: 'redis'; redis: RedisSettings };
};

/** One setting with its three names. */
export interface Setting {
  path: string[];
  variable: string;
  flag: string;
  kind: 'text' | 'number' | 'boolean';
  fallback: string;
  description: string;
}

/** All settings there are, from the schema itself. */
export const settingList: readonly Setting[] = listSettings(schema, []);

/** Flags by name, without dashes; as `util.parseArgs` gives them. */
export type Flags = Readonly<Record<string, string | undefined>>;

/**
 * The service's settings: a flag goes before a variable, a variable before the YAML file. Throws a
 * ConfigError with every mistake of all three.
 */
export function loadSettings(flags: Flags, environment: NodeJS.ProcessEnv = process.env): Settings {
  const mistakes: Mistake[] = [];
  const file = settingsFile(flags.config ?? environment.SLUICE_CONFIG);
  const data = nested(file?.data);
  /** Which flag or variable a value came from, by path. */
  const origins = new Map<string, string>();

  for (const setting of settingList) {
    const { path, variable, flag } = setting;
    const text = flags[flag] ?? environment[variable];
    if (text === undefined || text === '' || isServiceLink(variable, text)) continue;
    origins.set(path.join('.'), flags[flag] === undefined ? variable : `--${flag}`);
    put(data, path, readText(setting, text));
  }
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('SLUICE_') || KNOWN_VARIABLES.has(variable)) continue;
    if (isServiceLink(variable, text ?? '')) continue;
    const message = `unknown setting${didYouMean(variable, KNOWN_VARIABLES)}`;
    mistakes.push({ where: variable, path: '', message });
  }

  const report = (path: readonly PropertyKey[], message: string): void => {
    const origin = origins.get(path.join('.'));
    mistakes.push(
      origin === undefined && file !== undefined
        ? file.mistake(path, message)
        : { where: origin ?? '', path: origin === undefined ? path.join('.') : '', message },
    );
  };
  const parsed = schema.safeParse(data);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const value = isSecret(issue.path) ? '(hidden)' : valueAt(data, issue.path);
      for (const found of explainIssue(issue, value, fieldsAt(issue.path))) {
        report(found.path, found.message);
      }
    }
    throw new ConfigError(mistakes);
  }

  const { store, redis, ...others } = parsed.data;
  const kind = store ?? ((redis.url ?? redis.sentinels) ? 'redis' : 'memory');
  if (kind === 'memory') {
    if (mistakes.length > 0) throw new ConfigError(mistakes);
    return { ...others, store: { kind } };
  }
  const resolved = resolveRedis(redis, (path, message) => report(['redis', ...path], message));
  if (mistakes.length > 0 || resolved === undefined) throw new ConfigError(mistakes);
  return { ...others, store: { kind, redis: resolved } };
}

const KNOWN_VARIABLES = new Set(['SLUICE_CONFIG', ...settingList.map(({ variable }) => variable)]);

/**
 * Kubernetes sets variables like SLUICE_PORT=tcp://10.0.0.1:8080 for a Service called sluice, and
 * SLUICE_GRPC_PORT likewise for one called sluice-grpc. They are not settings.
 */
function isServiceLink(variable: string, text: string): boolean {
  return (
    /^(?:tcp|udp|sctp):\/\//.test(text) || /_SERVICE_(?:HOST|PORT)|_PORT_\d+_[A-Z]+/.test(variable)
  );
}

function settingsFile(named: string | undefined): YamlFile | undefined {
  if (named !== undefined && named !== '') return readYamlFile(named);
  return existsSync(DEFAULT_FILE) ? readYamlFile(DEFAULT_FILE) : undefined;
}

/** A copy of the file's data in which every group of settings is there. */
function nested(data: unknown): Record<string, unknown> {
  const groups: Record<string, unknown> = isRecord(data) ? structuredClone(data) : {};
  for (const { path } of settingList) {
    for (let depth = 1; depth < path.length; depth++) {
      const group = path.slice(0, depth);
      if ((valueAt(groups, group) ?? null) === null) put(groups, group, {});
    }
  }
  return groups;
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first, ...rest] = path;
  if (first === undefined) return;
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const inner = target[first];
  if (isRecord(inner)) put(inner, rest, value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A flag's or variable's text as what the schema wants, or as it is, for the schema to refuse. */
function readText({ kind }: Setting, text: string): unknown {
  if (kind === 'number' && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some((part) => /password|url/i.test(String(part)));
}

function fieldsAt(path: readonly PropertyKey[]): string[] {
  const under = settingList.filter((setting) => path.every((part, i) => setting.path[i] === part));
  return [...new Set(under.flatMap((setting) => setting.path[path.length] ?? []))];
}

function listSettings(group: z.ZodObject, path: string[]): Setting[] {
  return Object.entries(group.shape).flatMap(([name, field]): Setting[] => {
    const here = [...path, name];
    if (field instanceof z.ZodObject) return listSettings(field, here);
    if (!(field instanceof z.ZodType)) throw new Error(`${here.join('.')} is no zod schema`);
    const words = here.map((part) =>
      part.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    );
    const fallback = field.safeParse(undefined);
    return [
      {
        path: here,
        variable: `SLUICE_${words.join('_').replaceAll('-', '_').toUpperCase()}`,
        flag: words.join('-'),
        kind: kindOf(field),
        fallback: fallback.success ? String(fallback.data ?? '') : '',
        description: field.description ?? '',
      },
    ];
  });
}

function kindOf(field: z.ZodType): Setting['kind'] {
  const inner: unknown =
    field instanceof z.ZodOptional || field instanceof z.ZodDefault ? field.unwrap() : field;
  if (inner instanceof z.ZodNumber) return 'number';
  return inner instanceof z.ZodBoolean ? 'boolean' : 'text';
}

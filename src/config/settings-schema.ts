import { z } from 'zod';
import { type RedisSettings, redisSchema } from './redis-settings.js';

const host = (server: string) =>
  z.string().min(1).default('127.0.0.1').describe(`listen address for ${server}`);
const port = (number: number, server: string) =>
  z.int().min(0).max(65_535).default(number).describe(`port for ${server}; 0 picks a free port`);

export const settingsSchema = z.strictObject({
  policies: z
    .string()
    .min(1)
    .default('config/policies')
    .describe('YAML file with policies, or a folder of such files'),
  http: z.strictObject({ host: host('REST'), port: port(8080, 'REST') }),
  grpc: z.strictObject({
    host: host('gRPC'),
    port: port(8081, 'gRPC'),
    socket: z.string().min(1).optional().describe('Unix socket that gRPC also listens on'),
  }),
  admin: z.strictObject({
    host: host('health and metrics'),
    port: port(9090, 'health and metrics'),
  }),
  store: z
    .enum(['memory', 'redis'])
    .optional()
    .describe('where state is kept; default redis if an address of Redis is set, else memory'),
  memory: z.strictObject({
    maxKeys: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(1_000_000)
      .describe('maximum number of state keys in the embedded store'),
  }),
  redis: redisSchema,
  log: z.strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info')
      .describe('minimum log level'),
    format: z
      .enum(['auto', 'json', 'pretty'])
      .default('auto')
      .describe('auto means pretty on a terminal and json elsewhere'),
    keys: z
      .enum(['digest', 'plain'])
      .default('digest')
      .describe("whether callers' keys are logged as a short digest or in plain text"),
  }),
  shutdown: z.strictObject({
    delayMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(0)
      .describe(
        'how long to keep serving after SIGTERM so that load balancers notice, in milliseconds',
      ),
    graceMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(10_000)
      .describe('how long running calls may take to finish after the delay, in milliseconds'),
  }),
});

/** The settings as the schema returns them. Which store they mean is still to be resolved. */
export type ParsedSettings = z.output<typeof settingsSchema>;
export type Settings = Omit<ParsedSettings, 'store' | 'redis'> & {
  store: { kind: 'memory' } | { kind: 'redis'; redis: RedisSettings };
};

/** One setting under its three names: in YAML, as a variable and as a flag. */
export interface Setting {
  /** The path in YAML: `['redis', 'timeoutMs']`. */
  path: string[];
  /** `SLUICE_REDIS_TIMEOUT_MS`. */
  variable: string;
  /** `redis-timeout-ms`, without the dashes in front. */
  flag: string;
  kind: 'text' | 'number' | 'boolean';
  /** The default as text; empty if there is none. */
  fallback: string;
  description: string;
}

/** Every setting, read from the schema. The help text and the README are made from this list. */
export const settingList: readonly Setting[] = listSettings(settingsSchema, []);

/** Returns the setting at a path. Throws if there is none. */
export function settingOf(path: readonly string[]): Setting {
  const setting = settingList.find((candidate) => candidate.path.join('.') === path.join('.'));
  if (setting === undefined) throw new Error(`no setting ${path.join('.')}`);
  return setting;
}

function listSettings(group: z.ZodObject, path: string[]): Setting[] {
  return Object.entries(group.shape).flatMap(([name, field]): Setting[] => {
    const fieldPath = [...path, name];
    if (field instanceof z.ZodObject) return listSettings(field, fieldPath);
    if (!(field instanceof z.ZodType)) throw new Error(`${fieldPath.join('.')} is not a schema`);
    const words = fieldPath.map((part) =>
      part.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    );
    const fallback = field.safeParse(undefined);
    return [
      {
        path: fieldPath,
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

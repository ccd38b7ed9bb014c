import { z } from 'zod';
import { type RedisSettings, redisSchema } from './redis-settings.js';

const host = (what: string) =>
  z.string().min(1).default('127.0.0.1').describe(`address for ${what} to listen on`);
const port = (number: number, what: string) =>
  z.int().min(0).max(65_535).default(number).describe(`port of ${what}; 0 takes a free one`);

export const settingsSchema = z.strictObject({
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

type Parsed = z.output<typeof settingsSchema>;
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
export const settingList: readonly Setting[] = listSettings(settingsSchema, []);

/** The setting at a path. */
export function settingOf(path: readonly string[]): Setting {
  const found = settingList.find((setting) => setting.path.join('.') === path.join('.'));
  if (found === undefined) throw new Error(`no setting ${path.join('.')}`);
  return found;
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

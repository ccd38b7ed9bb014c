import { existsSync } from 'node:fs';
import { fieldsOf } from '../diagnostics/fields.js';
import { explainIssues, kindOf, valueAt } from '../diagnostics/issues.js';
import { ConfigError, type Mistake } from '../diagnostics/mistakes.js';
import { didYouMean } from '../diagnostics/near.js';
import { readYamlFile, type YamlFile } from '../diagnostics/yaml-file.js';
import { resolveRedis } from './redis-settings.js';
import {
  type ParsedSettings,
  type Setting,
  type Settings,
  settingList,
  settingsSchema,
} from './settings-schema.js';

export type { RedisSettings } from './redis-settings.js';
export { type Settings, settingList, settingOf } from './settings-schema.js';

const DEFAULT_FILE = 'config/sluice.yaml';

/** Flags by name, without dashes, as `util.parseArgs` returns them. */
export type Flags = Readonly<Record<string, string | undefined>>;

type Report = (path: readonly PropertyKey[], message: string) => void;

/**
 * Returns the service's settings. A flag takes precedence over a variable, and a variable over the
 * YAML file. Throws a ConfigError with the mistakes of all three.
 */
export function loadSettings(flags: Flags, environment: NodeJS.ProcessEnv = process.env): Settings {
  const file = settingsFile(flags.config ?? environment.SLUICE_CONFIG);
  const data = groupsOf(file?.data);
  const origins = applyOverrides(data, flags, environment);
  const mistakes = [...fileMistakes(file), ...unknownVariables(environment)];
  const report: Report = (path, message) => mistakes.push(locate(path, message, origins, file));

  const parsed = settingsSchema.safeParse(data);
  if (!parsed.success) {
    const explained = explainIssues(parsed.error, hideSecrets(data), fieldsOf(settingsSchema));
    for (const { path, message } of explained) report(path, message);
    throw new ConfigError(mistakes);
  }
  const { store: _store, redis: _redis, ...others } = parsed.data;
  const store = resolveStore(parsed.data, data, report);
  if (mistakes.length > 0 || store === undefined) throw new ConfigError(mistakes);
  return { ...others, store };
}

/** Reads the named file, or the default file if it exists. Throws a ConfigError. */
function settingsFile(name: string | undefined): YamlFile | undefined {
  if (name !== undefined && name !== '') return readYamlFile(name);
  return existsSync(DEFAULT_FILE) ? readYamlFile(DEFAULT_FILE) : undefined;
}

function fileMistakes(file: YamlFile | undefined): Mistake[] {
  if (file === undefined) return [];
  if (isRecord(file.data ?? {})) return file.mistakes;
  // The file may be a list of VARIABLE=secret lines, so its content is not shown.
  const message = `wanted a map of fields, got ${kindOf(file.data)}`;
  return [...file.mistakes, file.mistake([], message)];
}

/** Returns a copy of the file's data in which every group of settings exists, if only as `{}`. */
function groupsOf(data: unknown): Record<string, unknown> {
  const groups: Record<string, unknown> = isRecord(data) ? structuredClone(data) : {};
  for (const { path } of settingList) {
    for (let depth = 1; depth < path.length; depth++) {
      const group = path.slice(0, depth);
      if ((valueAt(groups, group) ?? null) === null) put(groups, group, {});
    }
  }
  return groups;
}

/** Puts flags and variables into `data`. Returns, by path, which flag or variable each came from. */
function applyOverrides(
  data: Record<string, unknown>,
  flags: Flags,
  environment: NodeJS.ProcessEnv,
): Map<string, string> {
  const origins = new Map<string, string>();
  for (const setting of settingList) {
    const { path, variable, flag } = setting;
    const text = flags[flag] ?? environment[variable];
    if (text === undefined || text === '') continue;
    if (flags[flag] === undefined && isServiceLink(variable, text)) continue;
    origins.set(path.join('.'), flags[flag] === undefined ? variable : `--${flag}`);
    put(data, path, readText(setting, text));
  }
  return origins;
}

/** Converts the text of a flag or variable. A text that does not fit is left to the schema to reject. */
function readText({ kind }: Setting, text: string): unknown {
  if (kind === 'number' && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function unknownVariables(environment: NodeJS.ProcessEnv): Mistake[] {
  return Object.entries(environment).flatMap(([variable, text = '']) => {
    if (!variable.startsWith('SLUICE_') || KNOWN_VARIABLES.has(variable)) return [];
    if (isServiceLink(variable, text)) return [];
    const message = `unknown setting${didYouMean(variable, KNOWN_VARIABLES)}`;
    return [{ where: variable, path: '', message }];
  });
}

const KNOWN_VARIABLES = new Set(['SLUICE_CONFIG', ...settingList.map(({ variable }) => variable)]);

/**
 * Kubernetes sets variables like SLUICE_PORT=tcp://10.0.0.1:8080 for a Service named sluice, and
 * SLUICE_GRPC_PORT for one named sluice-grpc. Read as settings, they would stop the service from
 * starting.
 */
function isServiceLink(variable: string, text: string): boolean {
  if (variable.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(text)) return true;
  return !KNOWN_VARIABLES.has(variable) && SERVICE_LINK.test(variable);
}

const SERVICE_LINK =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;

/** Makes a mistake that names the flag, variable or line that gave the setting its value. */
function locate(
  path: readonly PropertyKey[],
  message: string,
  origins: ReadonlyMap<string, string>,
  file: YamlFile | undefined,
): Mistake {
  const origin = origins.get(path.join('.'));
  if (origin !== undefined) return { where: origin, path: '', message };
  if (file !== undefined && valueAt(file.data, path) !== undefined) {
    return file.mistake(path, message);
  }
  return { where: '', path: path.join('.'), message };
}

const ADDRESS_WANTED = 'wanted redis.url or redis.sentinels as well, or store: memory';

/** Returns where state is kept. Reports settings that do not fit, and may then return undefined. */
function resolveStore(
  { store, redis }: ParsedSettings,
  data: unknown,
  report: Report,
): Settings['store'] | undefined {
  const kind = store ?? ((redis.url ?? redis.sentinels) ? 'redis' : 'memory');
  if (kind === 'redis') {
    const resolved = resolveRedis(redis, (path, message) => report(['redis', ...path], message));
    return resolved === undefined ? undefined : { kind, redis: resolved };
  }
  // Whoever sets, say, a password of Redis does not expect state in memory.
  if (store === undefined) {
    for (const path of givenPaths('redis', data)) report(path, ADDRESS_WANTED);
  }
  return { kind };
}

/** Returns the paths of the settings in a group that were given, except those that are `false`. */
function givenPaths(group: string, data: unknown): string[][] {
  const paths = settingList.map(({ path }) => path).filter(([first]) => first === group);
  return paths.filter((path) => (valueAt(data, path) ?? false) !== false);
}

/** Sets the value at a path. Does nothing if a part of the path is not a map. */
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

/** Returns a copy whose values may appear in messages: passwords and URLs are hidden. */
function hideSecrets(data: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(data), (name, value: unknown) =>
    /password|url/i.test(name) ? '(hidden)' : value,
  );
}

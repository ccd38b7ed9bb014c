import { existsSync } from 'node:fs';
import { explainIssues, kindOf, valueAt } from '../diagnostics/issues.js';
import { ConfigError, type Mistake } from '../diagnostics/mistakes.js';
import { didYouMean } from '../diagnostics/near.js';
import { readYamlFile, type YamlFile } from '../diagnostics/yaml-file.js';
import { resolveRedis } from './redis-settings.js';
import { type Setting, type Settings, settingList, settingsSchema } from './settings-schema.js';

export type { RedisSettings } from './redis-settings.js';
export { type Settings, settingList, settingOf } from './settings-schema.js';

const DEFAULT_FILE = 'config/sluice.yaml';

/** Flags by name, without dashes; as `util.parseArgs` gives them. */
export type Flags = Readonly<Record<string, string | undefined>>;

/**
 * The service's settings: a flag goes before a variable, a variable before the YAML file. Throws a
 * ConfigError with every mistake of all three.
 */
export function loadSettings(flags: Flags, environment: NodeJS.ProcessEnv = process.env): Settings {
  const mistakes: Mistake[] = [];
  const file = settingsFile(flags.config ?? environment.SLUICE_CONFIG);
  if (file !== undefined) {
    mistakes.push(...file.mistakes);
    if (!isRecord(file.data ?? {})) {
      // A list of variables is such a text, with passwords in it, so it is not shown.
      mistakes.push(file.mistake([], `wanted a map of fields, got ${kindOf(file.data)}`));
    }
  }
  const data = nested(file?.data);
  /** Which flag or variable a value came from, by path. */
  const origins = new Map<string, string>();

  for (const setting of settingList) {
    const { path, variable, flag } = setting;
    const text = flags[flag] ?? environment[variable];
    if (text === undefined || text === '') continue;
    if (flags[flag] === undefined && isServiceLink(variable, text)) continue;
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
    if (origin !== undefined) mistakes.push({ where: origin, path: '', message });
    else if (file !== undefined && valueAt(file.data, path) !== undefined) {
      mistakes.push(file.mistake(path, message));
    } else mistakes.push({ where: '', path: path.join('.'), message });
  };
  const parsed = settingsSchema.safeParse(data);
  if (!parsed.success) {
    for (const { path, message } of explainIssues(parsed.error, hideSecrets(data), fieldsAt)) {
      report(path, message);
    }
    throw new ConfigError(mistakes);
  }

  const { store, redis, ...others } = parsed.data;
  const kind = store ?? ((redis.url ?? redis.sentinels) ? 'redis' : 'memory');
  if (kind === 'memory') {
    if (store === undefined) {
      const message =
        'wanted an address of Redis as well (redis.url or redis.sentinels), or store: memory';
      for (const path of givenOf('redis', data)) report(path, message);
    }
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
  if (variable.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(text)) return true;
  return !KNOWN_VARIABLES.has(variable) && SERVICE_LINK.test(variable);
}

const SERVICE_LINK =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;

/** The paths of a group's settings that were given and say more than that something is off. */
function givenOf(group: string, data: unknown): string[][] {
  const paths = settingList.map(({ path }) => path).filter(([first]) => first === group);
  return paths.filter((path) => (valueAt(data, path) ?? false) !== false);
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

/** A copy that may be shown. */
function hideSecrets(data: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(data), (name, value: unknown) =>
    /password|url/i.test(name) ? '(hidden)' : value,
  );
}

function fieldsAt(path: readonly PropertyKey[]): string[] {
  const under = settingList.filter((setting) => path.every((part, i) => setting.path[i] === part));
  return [...new Set(under.flatMap((setting) => setting.path[path.length] ?? []))];
}

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Flags, settingList } from '../config/settings.js';
import { ConfigError } from '../diagnostics/mistakes.js';
import { didYouMean, nearNames, orNear } from '../diagnostics/near.js';

export type Command =
  | { kind: 'serve'; flags: Flags }
  | { kind: 'validate'; path: string }
  | { kind: 'replay'; policies: string; key: string; log: string; json: boolean }
  | { kind: 'version' }
  | { kind: 'help' };

export const HELP = `Sluice decides whether a caller may proceed: Check(key, policy) over REST and gRPC.

  sluice serve                 start the service; its settings are listed below
  sluice validate PATH         check a policy file or folder; lists every mistake and exits 1
  sluice replay --policy FILE --key client ACCESS_LOG
                               show what policies would have decided on an access log;
                               - reads the log from standard input
      --key LIST               client, method, path, status, user, separated by commas;
                               or =text for one constant key
      --json                   print JSON
  sluice --version             print the version

Settings of serve. Each is also a variable and a field of the YAML file (--config FILE):
${settingList.map(({ flag, description }) => `  --${flag.padEnd(26)} ${description}`).join('\n')}
`;

type Options = NonNullable<ParseArgsConfig['options']>;

const flags = settingList.map(({ flag }) => flag);
const text = { type: 'string' } as const;
const OPTIONS = {
  serve: Object.fromEntries(
    ['config', ...flags].map((flag): [string, typeof text] => [flag, text]),
  ),
  validate: {},
  replay: { policy: text, key: text, json: { type: 'boolean' } },
} as const;

/** Returns the command of a command line. Throws a ConfigError that says what is wrong with it. */
export function parseCommandLine(args: readonly string[]): Command {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || args.includes('--help') || args.includes('-h')) {
    return { kind: 'help' };
  }
  if (name === '--version' || name === 'version') return { kind: 'version' };
  if (name === 'serve') {
    const { values, positionals } = parse(rest, OPTIONS.serve);
    if (positionals.length > 0) throw usage(`serve takes no arguments, got "${positionals[0]}"`);
    return { kind: 'serve', flags: values };
  }
  if (name === 'validate') {
    const [path, surplus] = parse(rest, OPTIONS.validate).positionals;
    if (path === undefined || surplus !== undefined) throw usage('wanted: sluice validate PATH');
    return { kind: 'validate', path };
  }
  if (name === 'replay') {
    const { values, positionals } = parse(rest, OPTIONS.replay);
    const [log, surplus] = positionals;
    const { policy, key = 'client', json = false } = values;
    if (log === undefined || surplus !== undefined || policy === undefined) {
      throw usage('wanted: sluice replay --policy FILE --key client ACCESS_LOG');
    }
    return { kind: 'replay', policies: policy, key, log, json };
  }
  throw usage(`unknown command "${name}"${didYouMean(name, Object.keys(OPTIONS))}`);
}

function parse<const T extends Options>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw usage(unknownFlag(args, options));
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') throw usage(wrongValue(args, options));
    throw error;
  }
}

function unknownFlag(args: string[], options: Options): string {
  const unknown = flagsIn(args, options).find(({ name }) => !Object.hasOwn(options, name));
  const near = nearNames(unknown?.name ?? '', Object.keys(options)).map((name) => `--${name}`);
  return `unknown flag ${unknown?.rawName}${orNear(near)}`;
}

function wrongValue(args: string[], options: Options): string {
  for (const { name, rawName, value, inlineValue } of flagsIn(args, options)) {
    if (options[name]?.type === 'boolean') {
      if (value !== undefined) return `wanted no value for ${rawName}, got "${value}"`;
    } else if (value === undefined) {
      return `wanted a value after ${rawName}, got nothing`;
    } else if (!inlineValue && value.startsWith('-')) {
      return `wanted a value after ${rawName}, got ${value}; a value with a dash in front is written ${rawName}=${value}`;
    }
  }
  return 'wrong value of a flag';
}

/** Returns the flags as they stand on the command line, whether or not `options` allows them. */
function flagsIn(args: string[], options: Options) {
  const config = { args, options, allowPositionals: true, strict: false, tokens: true } as const;
  return parseArgs(config).tokens.filter((token) => token.kind === 'option');
}

function usage(message: string): ConfigError {
  return new ConfigError([{ where: 'sluice', path: '', message: `${message}; see sluice --help` }]);
}

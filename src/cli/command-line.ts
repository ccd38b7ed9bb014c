import { parseArgs } from 'node:util';
import { type Flags, settingList } from '../config/settings.js';
import { messageOf } from '../diagnostics/issues.js';
import { ConfigError } from '../diagnostics/mistakes.js';
import { didYouMean } from '../diagnostics/near.js';

export type Command =
  | { kind: 'serve'; flags: Flags }
  | { kind: 'validate'; path: string }
  | { kind: 'replay'; policies: string; key: string; log: string; json: boolean }
  | { kind: 'version' }
  | { kind: 'help' };

export const HELP = `Sluice decides whether a caller may go on: Check(key, policy) over REST and gRPC.

  sluice serve                       serve; every setting has a flag, see below
  sluice validate PATH               check a policy file or folder; exit 1 and every mistake
  sluice replay --policy FILE --key client ACCESS_LOG
                                     what policies would have done to an access log (- reads standard input)
      --key LIST                     client, method, path, status, user, comma-separated; or =text
      --json                         for machines
  sluice --version

Settings of serve, each also a variable and a field of the YAML file (--config FILE):
${settingList.map(({ flag, description }) => `  --${flag.padEnd(26)} ${description}`).join('\n')}
`;

const text = { type: 'string' } as const;
const OPTIONS = {
  serve: Object.fromEntries([['config', text], ...settingList.map(({ flag }) => [flag, text])]),
  validate: {},
  replay: { policy: text, key: text, json: { type: 'boolean' } },
} as const;
type Name = keyof typeof OPTIONS;

/** What the command line asks for. Throws a ConfigError if that cannot be told. */
export function parseCommandLine(args: readonly string[]): Command {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || args.includes('--help') || args.includes('-h')) {
    return { kind: 'help' };
  }
  if (name === '--version' || name === 'version') return { kind: 'version' };
  if (name === 'serve') {
    const { values, positionals } = parse(name, rest);
    if (positionals.length > 0) throw usage(`serve takes no "${positionals[0]}"`);
    return { kind: 'serve', flags: values };
  }
  if (name === 'validate') {
    const [path, more] = parse(name, rest).positionals;
    if (path === undefined || more !== undefined) throw usage('wanted: sluice validate PATH');
    return { kind: 'validate', path };
  }
  if (name === 'replay') {
    const { values, positionals } = parse(name, rest);
    const [log, more] = positionals;
    const { policy, key = 'client', json } = values;
    if (log === undefined || more !== undefined || policy === undefined) {
      throw usage('wanted: sluice replay --policy FILE --key client ACCESS_LOG');
    }
    return { kind: 'replay', policies: policy, key, log, json: json === 'true' };
  }
  throw usage(`unknown command "${name}"${didYouMean(name, Object.keys(OPTIONS))}`);
}

/** Flags by name, a switch as `true`. */
function parse(name: Name, args: string[]): { values: Flags; positionals: string[] } {
  try {
    const parsed = parseArgs({ args, options: OPTIONS[name], allowPositionals: true });
    const values = Object.entries(parsed.values).map(([flag, value]) => [flag, String(value)]);
    return { values: Object.fromEntries(values), positionals: parsed.positionals };
  } catch (error) {
    const reason = messageOf(error);
    const flag = /'--?([^'\s]+)'/.exec(reason)?.[1];
    throw usage(reason.split('. ')[0] + didYouMean(flag ?? '', Object.keys(OPTIONS[name])));
  }
}

function usage(message: string): ConfigError {
  return new ConfigError([{ where: 'sluice', path: '', message: `${message}; see sluice --help` }]);
}

import { describe, expect, it } from 'vitest';
import { HELP, parseCommandLine } from '../../src/cli/command-line.js';
import { settingList } from '../../src/config/settings.js';
import { ConfigError } from '../../src/diagnostics/mistakes.js';

function mistake(...args: string[]): string {
  try {
    return JSON.stringify(parseCommandLine(args));
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

describe('the command line', () => {
  it('serves with flags, separate from their values or joined by =', () => {
    expect(parseCommandLine(['serve', '--http-port', '80', '--redis-prefix=-x'])).toEqual({
      kind: 'serve',
      flags: { 'http-port': '80', 'redis-prefix': '-x' },
    });
  });

  it('replays with a key of `client` and without JSON by default', () => {
    const replay = { kind: 'replay', policies: 'p.yaml', log: 'a.log' };
    expect(parseCommandLine(['replay', '--policy', 'p.yaml', 'a.log'])).toEqual({
      ...replay,
      key: 'client',
      json: false,
    });
    expect(
      parseCommandLine(['replay', '--json', '--key', '=all', '--policy', 'p.yaml', 'a.log']),
    ).toEqual({ ...replay, key: '=all', json: true });
    expect(parseCommandLine(['replay', '--policy', 'p.yaml', '-'])).toMatchObject({ log: '-' });
  });

  it('validates one path', () => {
    expect(parseCommandLine(['validate', 'p.yaml'])).toEqual({ kind: 'validate', path: 'p.yaml' });
  });

  it.each([[], ['help'], ['serve', '--help'], ['-h']])('asks for help: %j', (...args) => {
    expect(parseCommandLine(args)).toEqual({ kind: 'help' });
  });

  it.each([
    [['serv'], 'unknown command "serv" (did you mean serve?)'],
    [['serve', 'now'], 'serve takes no arguments, got "now"'],
    [
      ['serve', '--http-prot', '80'],
      'unknown flag --http-prot (did you mean --http-port or --http-host?)',
    ],
    [['serve', '--no-such-thing=80'], 'unknown flag --no-such-thing'],
    [['serve', '--http-port', '80', '-p'], 'unknown flag -p'],
    [['serve', '--http-port'], 'wanted a value after --http-port, got nothing'],
    [
      ['serve', '--http-port', '--grpc-port', '81'],
      'wanted a value after --http-port, got --grpc-port; a value with a dash in front is written --http-port=--grpc-port',
    ],
    [['replay', '--json=yes', 'a.log'], 'wanted no value for --json, got "yes"'],
    [['replay', 'a.log'], 'wanted: sluice replay --policy FILE --key client ACCESS_LOG'],
    [['validate'], 'wanted: sluice validate PATH'],
    [['validate', 'a', 'b'], 'wanted: sluice validate PATH'],
  ])('reports what is wrong with %j', (args, message) => {
    expect(mistake(...args)).toBe(`sluice: ${message}; see sluice --help`);
  });

  it('lists every setting in the help text', () => {
    for (const { flag, description } of settingList) {
      expect(HELP).toMatch(new RegExp(`^ {2}--${flag} +${escapeRegExp(description)}$`, 'm'));
    }
  });

  it('explains the commands in lines of at most 100 columns', () => {
    const [commands = ''] = HELP.split('\nSettings');
    for (const line of commands.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

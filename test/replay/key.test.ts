import { expect, test } from 'vitest';
import { ConfigError } from '../../src/diagnostics/mistakes.js';
import { isKey, parseKey } from '../../src/replay/key.js';

const LINE = { time: 0, client: '::1', user: 'ann', method: 'GET', path: '/a', status: '200' };
const WANTED =
  'wanted a comma-separated list of client, method, path, status, user, ' +
  'or =text for a constant key';

test('a key is one field of the log', () => {
  expect(parseKey('client')(LINE)).toBe('::1');
  expect(parseKey('user')(LINE)).toBe('ann');
});

test('a key is several fields, separated by spaces, in the order of the flag', () => {
  expect(parseKey('method,path,status')(LINE)).toBe('GET /a 200');
  expect(parseKey(' path , client ')(LINE)).toBe('/a ::1');
});

test('a key is a constant text if the flag begins with an equals sign', () => {
  expect(parseKey('=all')(LINE)).toBe('all');
  expect(parseKey('=client, path')(LINE)).toBe('client, path');
});

test('every unknown field is reported with the list of known fields', () => {
  const mistakes = [
    {
      where: '--key',
      path: '',
      message: `unknown field "cleint" (did you mean client?); ${WANTED}`,
    },
    { where: '--key', path: '', message: `unknown field "time"; ${WANTED}` },
  ];
  expect(() => parseKey('cleint,path,time')).toThrow(
    expect.objectContaining({ name: 'ConfigError', mistakes }),
  );
});

test.each(['', ',', 'client,', 'Client', 'client path', 'constructor'])(
  'the fields "%s" are rejected',
  (text) => {
    expect(() => parseKey(text)).toThrow(ConfigError);
  },
);

test('a constant key has 1 to 1024 bytes', () => {
  expect(() => parseKey('=')).toThrow(
    '--key: wanted 1 to 1024 bytes of UTF-8 after the =, got 0 bytes',
  );
  expect(() => parseKey(`=${'é'.repeat(513)}`)).toThrow('got 1026 bytes');
  expect(parseKey(`=${'é'.repeat(512)}`)(LINE)).toHaveLength(512);
});

test('a key has 1 to 1024 bytes of UTF-8', () => {
  expect(['a', 'a'.repeat(1024), 'é'.repeat(512), '€'.repeat(341)].map(isKey)).not.toContain(false);
  expect(['', 'a'.repeat(1025), 'é'.repeat(513), '€'.repeat(342)].map(isKey)).not.toContain(true);
});

test('bytes that are not UTF-8 are not a key, or else different keys would become the same', () => {
  expect(isKey(Buffer.from([0x2f, 0xe9]).toString())).toBe(false);
});

import { ConfigError } from '../diagnostics/mistakes.js';
import { didYouMean } from '../diagnostics/near.js';
import { MAX_KEY_BYTES } from '../domain.js';
import type { AccessLine } from './access-log.js';

/** Returns the key of a log line. */
export type KeyOf = (line: AccessLine) => string;

const FIELDS = new Map<string, KeyOf>([
  ['client', ({ client }) => client],
  ['method', ({ method }) => method],
  ['path', ({ path }) => path],
  ['status', ({ status }) => status],
  ['user', ({ user }) => user],
]);
const NAMES = [...FIELDS.keys()];
const WANTED = `wanted a comma-separated list of ${NAMES.join(', ')}, or =text for a constant key`;

/**
 * Parses the value of `--key`: `client,path` names fields of the log, `=all` is one key for every
 * line. Throws a ConfigError with every unknown field.
 */
export function parseKey(text: string): KeyOf {
  if (text.startsWith('=')) {
    const constant = text.slice(1);
    if (isKey(constant)) return () => constant;
    const got = `got ${Buffer.byteLength(constant)} bytes`;
    throw keyError([`wanted 1 to ${MAX_KEY_BYTES} bytes of UTF-8 after the =, ${got}`]);
  }
  const names = text.split(',').map((name) => name.trim());
  const fields = names.flatMap((name) => FIELDS.get(name) ?? []);
  const [first] = fields;
  if (fields.length < names.length || first === undefined) {
    const unknown = names.filter((name) => !FIELDS.has(name));
    throw keyError(
      unknown.map(
        (name) => `unknown field ${JSON.stringify(name)}${didYouMean(name, NAMES)}; ${WANTED}`,
      ),
    );
  }
  if (fields.length === 1) return first;
  return (line) => fields.map((field) => field(line)).join(' ');
}

/**
 * Returns whether a Check may have this key. A key with U+FFFD may not: bytes that are not UTF-8 are
 * decoded to it, so different keys of the log would become one.
 */
export function isKey(text: string): boolean {
  if (text === '' || text.includes('\uFFFD')) return false;
  // A unit of UTF-16 takes at most three bytes of UTF-8.
  return text.length * 3 <= MAX_KEY_BYTES || Buffer.byteLength(text) <= MAX_KEY_BYTES;
}

function keyError(messages: readonly string[]): ConfigError {
  return new ConfigError(messages.map((message) => ({ where: '--key', path: '', message })));
}

import { ConfigError } from '../diagnostics/mistakes.js';
import { didYouMean } from '../diagnostics/near.js';
import { MAX_KEY_BYTES } from '../domain.js';
import type { AccessLine } from './access-log.js';

type KeyOf = (line: AccessLine) => string;

const FIELDS = new Map<string, KeyOf>([
  ['client', ({ client }) => client],
  ['method', ({ method }) => method],
  ['path', ({ path }) => path],
  ['status', ({ status }) => status],
  ['user', ({ user }) => user],
]);
const NAMES = [...FIELDS.keys()];
const WANTED = `wanted a comma-separated list of ${NAMES.join(', ')}, or =text for a constant key`;

/** What `--key` says: `client,path` are fields of the log, `=all` is one key for every line. */
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
 * Whether a Check may carry it. Bytes that are no UTF-8 are read as U+FFFD; as keys, several that
 * differ would become one.
 */
export function isKey(text: string): boolean {
  if (text === '' || text.includes('\uFFFD')) return false;
  // No character of UTF-16 takes more than three bytes.
  return text.length * 3 <= MAX_KEY_BYTES || Buffer.byteLength(text) <= MAX_KEY_BYTES;
}

function keyError(messages: readonly string[]): ConfigError {
  return new ConfigError(messages.map((message) => ({ where: '--key', path: '', message })));
}

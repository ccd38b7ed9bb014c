import type { z } from 'zod';
import type { FieldsAt } from './fields.js';
import { didYouMean } from './near.js';

export interface Explained {
  path: PropertyKey[];
  message: string;
}

/**
 * Turns the issues that zod found in `data` into sentences: what was wanted, what was given. An
 * unknown field is compared with `fieldsAt` its map. After `max` sentences, one more says how many
 * were left out.
 */
export function explainIssues(
  { issues }: z.ZodError,
  data: unknown,
  fieldsAt: FieldsAt,
  max = Number.POSITIVE_INFINITY,
): Explained[] {
  const all = issues.flatMap((issue): Explained[] => {
    if (issue.code === 'unrecognized_keys') {
      const fields = fieldsAt(issue.path);
      const wantedFields = fields.length === 0 ? '' : `; wanted one of ${fields.join(', ')}`;
      return issue.keys.map((key, i) => ({
        path: [...issue.path, key],
        message: `unknown field${didYouMean(key, fields)}${i === 0 ? wantedFields : ''}`,
      }));
    }
    const value = valueAt(data, issue.path);
    const given = value === undefined ? 'got nothing' : `got ${show(value)}`;
    const near =
      issue.code === 'invalid_value' && typeof value === 'string'
        ? didYouMean(value, issue.values.map(String))
        : '';
    return [{ path: [...issue.path], message: `${wanted(issue)}, ${given}${near}` }];
  });
  if (all.length <= max) return all;
  return [...all.slice(0, max), { path: [], message: `and ${all.length - max} more` }];
}

function wanted(issue: z.core.$ZodIssue): string {
  // A message of the schema's own says more than its code.
  if (issue.message.startsWith('wanted')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `wanted ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `wanted ${sized(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `wanted ${sized(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'invalid_value':
      return `wanted ${issue.values.map(String).join(' or ')}`;
    default:
      return issue.message;
  }
}

const TYPES: Record<string, string> = {
  int: 'a whole number below 2^53',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
  record: 'a map of fields',
};

/** Returns, for example, `at least 1 character`, `a list of at most 16 items` or `at least 0`. */
function sized(origin: string, bound: string, count: number): string {
  if (origin === 'string') return `${bound} ${plural(count, 'character')}`;
  if (origin === 'array') return `a list of ${bound} ${plural(count, 'item')}`;
  return `${bound} ${count}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const MAX_SHOWN = 60;

/** Returns a given value in at most 60 characters; a large map or list as its kind. */
export function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const parts = Object.values(value);
    // Anybody can send a value that is nested too deeply, or is too long, for JSON.stringify.
    const text = parts.length < MAX_SHOWN && parts.every(isScalar) ? JSON.stringify(value) : '';
    return text !== '' && text.length <= MAX_SHOWN ? text : kindOf(value);
  }
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 3)}...`;
}

/** Returns the kind of a value. Nothing of a string, a list or a map is shown: it may be secret. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${plural(value.length, 'item')}`;
  if (typeof value === 'object' && value !== null) return 'a map of fields';
  return typeof value === 'string' ? 'a string' : String(value);
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Returns the value at a path, or undefined if there is none. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    if (typeof value === 'object' && value !== null) return Reflect.get(value, part);
    return undefined;
  }, root);
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

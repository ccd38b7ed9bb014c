import type { z } from 'zod';
import { didYouMean } from './near.js';

type Issue = z.core.$ZodIssue;

export interface Explained {
  path: PropertyKey[];
  message: string;
}

/**
 * What zod found wrong with `data`, in sentences: what was wanted, what was given. `fieldsAt` a path
 * are the names that could have been meant by an unknown one. Beyond `most` sentences they are only
 * counted.
 */
export function explainIssues(
  { issues }: z.ZodError,
  data: unknown,
  fieldsAt: (path: readonly PropertyKey[]) => readonly string[],
  most = Number.POSITIVE_INFINITY,
): Explained[] {
  const all = issues.flatMap((issue): Explained[] => {
    if (issue.code === 'unrecognized_keys') {
      const fields = fieldsAt(issue.path);
      return issue.keys.map((key, i) => ({
        path: [...issue.path, key],
        message: `unknown field${didYouMean(key, fields)}${i === 0 ? `; wanted one of ${fields.join(', ')}` : ''}`,
      }));
    }
    const value = valueAt(data, issue.path);
    const given = value === undefined ? 'nothing given' : `got ${show(value)}`;
    const near =
      issue.code === 'invalid_value' && typeof value === 'string'
        ? didYouMean(value, issue.values.map(String))
        : '';
    return [{ path: [...issue.path], message: `${wanted(issue)}, ${given}${near}` }];
  });
  if (all.length <= most) return all;
  return [...all.slice(0, most), { path: [], message: `and ${all.length - most} more` }];
}

function wanted(issue: Issue): string {
  // A schema's own words know better.
  if (issue.message.startsWith('wanted')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `wanted ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'string'
        ? `wanted at least ${issue.minimum} character${issue.minimum === 1 ? '' : 's'}`
        : `wanted ${issue.origin === 'array' ? 'a list of ' : ''}at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `wanted at most ${issue.maximum} characters`
        : `wanted ${issue.origin === 'array' ? 'a list of ' : ''}at most ${issue.maximum}`;
    case 'invalid_value':
      return `wanted ${issue.values.map(String).join(' or ')}`;
    default:
      return issue.message;
  }
}

const TYPES: Record<string, string> = {
  int: 'a whole number below 2^53',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
  record: 'a map of fields',
};

const MAX_SHOWN = 60;

/** A given value in few characters. */
export function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const parts = Object.values(value);
    // Anybody may send a nest too deep or a list too long to be made a text.
    const text = parts.length < MAX_SHOWN && parts.every(isScalar) ? JSON.stringify(value) : '';
    return text !== '' && text.length <= MAX_SHOWN ? text : kindOf(value);
  }
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 3)}...`;
}

/** What sort of value it is, without what is in it. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'a map of fields';
  return typeof value === 'string' ? 'a text' : String(value);
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** The value at a path, or undefined. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    if (typeof value === 'object' && value !== null) return Reflect.get(value, part);
    return undefined;
  }, root);
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

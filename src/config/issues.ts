import type { z } from 'zod';
import { didYouMean } from './near.js';

type Issue = z.core.$ZodIssue;

export interface Explained {
  path: PropertyKey[];
  message: string;
}

/**
 * What zod found wrong with `data`, in sentences: what was wanted, what was given. `fieldsAt` a path
 * are the names that could have been meant by an unknown one.
 */
export function explainIssues(
  { issues }: z.ZodError,
  data: unknown,
  fieldsAt: (path: readonly PropertyKey[]) => readonly string[],
): Explained[] {
  return issues.flatMap((issue): Explained[] => {
    if (issue.code === 'unrecognized_keys') {
      const fields = fieldsAt(issue.path);
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: `unknown field${didYouMean(key, fields)}; wanted one of ${fields.join(', ')}`,
      }));
    }
    const value = valueAt(data, issue.path);
    const given = value === undefined ? 'nothing given' : `got ${show(value)}`;
    const near =
      issue.code === 'invalid_value' ? didYouMean(String(value), issue.values.map(String)) : '';
    return [{ path: [...issue.path], message: `${wanted(issue)}, ${given}${near}` }];
  });
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

/** A given value in few characters. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
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

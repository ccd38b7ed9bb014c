import { z } from 'zod';
import { MICROSECONDS } from './units.js';

/** Ten years. Added to today's clock, that is still far below 2^53 microseconds. */
const MAX_DURATION = 3650 * MICROSECONDS.d;

const PATTERN = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const UNITS = ['d', 'h', 'm', 's', 'ms'] as const;

/**
 * Returns the microseconds of a duration like `1m30s`, or undefined if `text` is not a duration.
 * Units must be in descending order, each at most once.
 */
function parseDuration(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (match === null || text === '') return undefined;
  return UNITS.reduce((sum, unit, i) => sum + Number(match[i + 1] ?? 0) * MICROSECONDS[unit], 0);
}

const WANTED = 'a duration like 500ms, 10s, 1m30s, 1h or 7d';

/**
 * Returns a schema for a duration of 1 ms to ten years, which it parses to microseconds. The schema
 * also accepts the given words, such as `day`, and leaves them as they are.
 */
export function durationOr<const Words extends readonly string[]>(...words: Words) {
  const orWords = words.length === 0 ? '' : `, or one of ${words.join(', ')}`;
  const wanted = `wanted ${WANTED}${orWords}`;
  return z.string({ error: wanted }).transform((text, context): number | Words[number] => {
    if (words.includes(text)) return text;
    const length = parseDuration(text);
    if (length !== undefined && length >= MICROSECONDS.ms && length <= MAX_DURATION) return length;
    const message =
      length === undefined
        ? wanted
        : 'wanted a duration from 1ms to 3650d (ten years, the maximum)';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

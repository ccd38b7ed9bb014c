import { z } from 'zod';

const MICROSECONDS = {
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
};
type Unit = keyof typeof MICROSECONDS;

/** Ten years: with today's clock added, still far below 2^53 microseconds. */
const MAX_DURATION = 3650 * MICROSECONDS.d;

/** The length in microseconds of a text like `1m30s`, or undefined if it is none. Units descend, each once. */
function parseDuration(text: string): number | undefined {
  const match = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (match === null || text === '') return undefined;
  const units: Unit[] = ['d', 'h', 'm', 's', 'ms'];
  return units.reduce((sum, unit, i) => sum + Number(match[i + 1] ?? 0) * MICROSECONDS[unit], 0);
}

const WANTED = 'a duration like 500ms, 10s, 1m30s, 1h or 7d';

/**
 * A duration in YAML, parsed to microseconds: at least 1 ms and at most ten years; or one of the
 * other words that may stand in its place.
 */
export function durationOr<const Words extends readonly string[]>(...words: Words) {
  const orWords = words.length === 0 ? '' : `, or one of ${words.join(', ')}`;
  const wanted = `wanted ${WANTED}${orWords}`;
  return z.string({ error: wanted }).transform((text, context): number | Words[number] => {
    const word = words.find((other) => other === text);
    if (word !== undefined) return word;
    const length = parseDuration(text);
    if (length !== undefined && length >= 1_000 && length <= MAX_DURATION) return length;
    const message =
      length === undefined
        ? wanted
        : 'wanted a duration from 1ms to 3650d (ten years, the maximum)';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

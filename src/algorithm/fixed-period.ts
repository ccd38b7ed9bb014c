import { z } from 'zod';
import type { Algorithm, Verdict } from './algorithm.js';
import { CALENDAR_UNITS } from './windows/calendar.js';
import { durationOr } from './windows/duration.js';
import { calendarWindows, steppedWindows, type Windows, windowEnd } from './windows/windows.js';
import { findZone } from './windows/zone.js';

const zone = z.string().transform((name, context) => {
  const found = findZone(name);
  if (found !== undefined) return found;
  context.addIssue({
    code: 'custom',
    message: 'wanted an IANA name like Europe/Madrid, UTC, or an offset like +05:30',
  });
  return z.NEVER;
});

const schema = z
  .strictObject({
    quota: z.int().min(0),
    period: durationOr(...CALENDAR_UNITS),
    align: z.enum(['first-check', 'clock']).optional(),
    timezone: zone.optional(),
  })
  .refine(({ period, align }) => !(isCalendar(period) && align === 'first-check'), {
    path: ['align'],
    error:
      'wanted clock or nothing: a calendar period begins where the calendar says; for one from the first check write its length, such as 24h',
    when: isObject,
  })
  .refine(
    ({ period, align, timezone }) =>
      timezone === undefined || align === 'clock' || isCalendar(period),
    {
      path: ['timezone'],
      error: 'wanted only with align: clock or a calendar period, since elapsed time has no zone',
      when: isObject,
    },
  );

function isCalendar(period: unknown): boolean {
  return typeof period === 'string' && CALENDAR_UNITS.some((unit) => unit === period);
}

/** These rules are worth reporting although another field is wrong. */
function isObject({ value }: { value: unknown }): boolean {
  return typeof value === 'object' && value !== null;
}

type Spec = z.output<typeof schema>;
interface Numbers {
  quota: number;
  /** Set if a period starts at the first charged check of its key. */
  period?: number;
  /** Set if periods start at boundaries. */
  windows?: Windows;
}
/** What was used in the period that ends (excluded) at `end`. */
interface State {
  used: number;
  end: number;
}

/**
 * At most `quota` units in each period. From go-zero's PeriodLimit (core/limit/periodlimit.go),
 * with its codes; the period starts at the first charged check, at boundaries of the clock, or with
 * the calendar of a zone.
 *
 * It lets up to twice the quota pass around a boundary; `sliding-log` does not.
 */
export const fixedPeriod: Algorithm<Spec, Numbers, State> = {
  name: 'fixed-period',
  schema,
  // An old end has no meaning under another period or alignment; the quota may change freely.
  stateTag: ({ period, align, timezone }) =>
    typeof period === 'string' || align === 'clock'
      ? `${period}@${timezone?.name ?? 'UTC'}`
      : String(period),
  constantPeriod: ({ period }) => (typeof period === 'string' ? undefined : period),
  numbers({ quota, period, align, timezone }) {
    const zone = timezone ?? findZone('UTC');
    if (zone === undefined) throw new Error('UTC is a zone');
    if (typeof period === 'number' && align !== 'clock') {
      const numbers = { quota, period };
      return () => numbers;
    }
    const around =
      typeof period === 'string' ? calendarWindows(period, zone) : steppedWindows(period, zone);
    let numbers: { quota: number; windows: Windows } | undefined;
    return (now) => {
      const windows = around(now);
      if (numbers?.windows !== windows) numbers = { quota, windows };
      return numbers;
    };
  },

  // A clock that goes back stays before the end of the period, which is all that the state knows.
  time: () => 0,
  isOver: ({ end }, _numbers, now) => now >= end,

  ask(state, numbers, cost, now): Verdict {
    const { used, end } = current(state, numbers, now);
    const free = Math.max(0, numbers.quota - used);
    const resetAfter = used > 0 ? end - now : 0;
    if (cost > numbers.quota) return { kind: 'never', remaining: free, resetAfter };
    if (cost > free) return { kind: 'wait', remaining: free, resetAfter, retryAfter: end - now };
    const after = used + cost > 0 ? end - now : 0;
    return { kind: 'allow', remaining: free - cost, resetAfter: after };
  },

  charge(state, numbers, cost, now): State {
    const { used, end } = current(state, numbers, now);
    // A denied attempt may fill the quota but need not be remembered beyond it.
    const count = Math.max(used, Math.min(used + cost, numbers.quota));
    if (state === undefined) return { used: count, end };
    state.used = count;
    state.end = end;
    return state;
  },
};

function current(state: State | undefined, numbers: Numbers, now: number): State {
  if (state !== undefined && now < state.end) return state;
  const { period, windows } = numbers;
  if (windows !== undefined) return { used: 0, end: windowEnd(windows, now) };
  return { used: 0, end: now + (period ?? 0) };
}

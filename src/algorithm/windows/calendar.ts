import { DAY_MS } from './units.js';
import type { Zone } from './zone.js';

/** The units of a calendar period. A week is an ISO week: it starts on Monday. */
export const CALENDAR_UNITS = ['day', 'week', 'month', 'year'] as const;
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** A window `[start, end)` in milliseconds since 1970. */
export interface CalendarWindow {
  start: number;
  end: number;
}

/**
 * Returns the window that contains the instant `now` (milliseconds since 1970). The windows of a
 * zone tile time: each starts where the previous one ends, and none is empty. Their length is real
 * time: a day on which the clocks change may have 23 or 25 hours.
 *
 * The search compares instants, because the local date of `now` can be wrong: where the clocks go
 * back across midnight, they show the old date again after the new day has begun.
 */
export function calendarWindow(unit: CalendarUnit, zone: Zone, now: number): CalendarWindow {
  const offset = zone.segments(now, now)[0]?.offset ?? 0;
  let local = unitStart(unit, now + offset);
  while (instantOf(zone, unitNext(unit, local)) <= now) local = unitNext(unit, local);
  while (instantOf(zone, local) > now) local = unitStart(unit, local - 1);
  return { start: instantOf(zone, local), end: instantOf(zone, unitNext(unit, local)) };
}

/**
 * Returns the first instant at which the zone's clocks show `local` or a later time. If they show
 * midnight twice, that is the first of the two; if they skip midnight, the end of the gap; if they
 * skip a whole date, the start of the next date.
 */
function instantOf(zone: Zone, local: number): number {
  const segments = zone.segments(local - 2 * DAY_MS, local + 2 * DAY_MS);
  for (const [i, segment] of segments.entries()) {
    const instant = Math.max(segment.from, local - segment.offset);
    if (instant < (segments[i + 1]?.from ?? Number.POSITIVE_INFINITY)) return instant;
  }
  throw new Error(`no instant for local time ${local} in ${zone.name}`);
}

/**
 * Returns the start of the unit that contains `local`. Local times are numbers as if the zone were
 * UTC, so that Date can compute with them.
 */
function unitStart(unit: CalendarUnit, local: number): number {
  const day = Math.floor(local / DAY_MS);
  const date = new Date(local);
  switch (unit) {
    case 'day':
      return day * DAY_MS;
    case 'week':
      return (day - ((((day + 3) % 7) + 7) % 7)) * DAY_MS;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    case 'year':
      return Date.UTC(date.getUTCFullYear(), 0, 1);
  }
}

/** Returns the start of the next unit; `start` is the start of a unit. */
function unitNext(unit: CalendarUnit, start: number): number {
  // Enough days to leave the longest unit of its kind, and too few to pass over the next one.
  const days = { day: 1, week: 7, month: 32, year: 366 } as const;
  return unitStart(unit, start + days[unit] * DAY_MS);
}

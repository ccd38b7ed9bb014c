import type { Zone } from './zone.js';

/** Days, ISO weeks (from Monday), months and years, as a zone's calendar has them. */
export const CALENDAR_UNITS = ['day', 'week', 'month', 'year'] as const;
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** A window `[start, end)` in milliseconds, with the local date that it begins on. */
export interface CalendarWindow {
  date: string;
  start: number;
  end: number;
}

const DAY = 86_400_000;

/**
 * The window that holds `now`. Windows of a zone tile time: each ends where the next begins, none
 * is empty, and each lasts as long as it really lasts.
 *
 * Found by comparing instants, not by reading the date off `now`: where clocks go back across
 * midnight, the old date is read again although the new day has begun.
 */
export function calendarWindow(unit: CalendarUnit, zone: Zone, now: number): CalendarWindow {
  const offset = zone.segments(now, now)[0]?.offset ?? 0;
  let date = unitStart(unit, now + offset);
  while (instantOf(zone, unitNext(unit, date)) <= now) date = unitNext(unit, date);
  while (instantOf(zone, date) > now) date = unitStart(unit, date - 1);
  return {
    date: new Date(date).toISOString().slice(0, 10),
    start: instantOf(zone, date),
    end: instantOf(zone, unitNext(unit, date)),
  };
}

/**
 * The first instant whose local time is `local` or later: the first of two midnights, the end of
 * the gap where there is none, the next date where one was skipped.
 */
function instantOf(zone: Zone, local: number): number {
  const segments = zone.segments(local - 2 * DAY, local + 2 * DAY);
  for (const [i, segment] of segments.entries()) {
    const instant = Math.max(segment.from, local - segment.offset);
    if (instant < (segments[i + 1]?.from ?? Number.POSITIVE_INFINITY)) return instant;
  }
  throw new Error(`no instant for local time ${local} in ${zone.name}`);
}

/** Local times are written as if they were UTC, so that Date's arithmetic serves. */
function unitStart(unit: CalendarUnit, local: number): number {
  const day = Math.floor(local / DAY);
  const date = new Date(local);
  switch (unit) {
    case 'day':
      return day * DAY;
    case 'week':
      return (day - ((((day + 3) % 7) + 7) % 7)) * DAY;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    case 'year':
      return Date.UTC(date.getUTCFullYear(), 0, 1);
  }
}

function unitNext(unit: CalendarUnit, start: number): number {
  // 32 days after a month's first lies in the next month; 366 after a year's first, in the next year.
  const inside = { day: 1, week: 7, month: 32, year: 366 } as const;
  return unitStart(unit, start + inside[unit] * DAY);
}

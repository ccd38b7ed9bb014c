import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CALENDAR_UNITS, calendarWindow } from '../../src/algorithm/windows/calendar.js';
import { calendarWindows, windowEnd } from '../../src/algorithm/windows/windows.js';
import { findZone, type Zone } from '../../src/algorithm/windows/zone.js';
import { wallOf } from './clock-changes.js';

const HOUR = 3_600_000;

const vector = z.strictObject({
  now: z.iso.datetime(),
  unit: z.enum(CALENDAR_UNITS),
  timezone: z.string(),
  window: z.iso.date(),
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  resetAfterMs: z.int(),
  hours: z.number(),
});
const vectors = z.array(vector).parse(JSON.parse(readVector('calendar.json')));

describe('the vectors', () => {
  test.for(vectors)('$unit of $timezone at $now', (row) => {
    const zone = zoneOf(row.timezone);
    const now = Date.parse(row.now);
    const window = calendarWindow(row.unit, zone, now);
    expect(window).toEqual({ start: Date.parse(row.start), end: Date.parse(row.end) });
    expect(wallOf(row.timezone).date(window.start)).toBe(row.window);
    expect((window.end - window.start) / HOUR).toBe(row.hours);
    const end = windowEnd(calendarWindows(row.unit, zone)(now * 1000), now * 1000);
    expect(end - now * 1000).toBe(row.resetAfterMs * 1000);
  });
});

const fixture = z.tuple([
  z.enum(CALENDAR_UNITS),
  z.string(),
  z.iso.date(),
  z.string().transform((text) => Date.parse(text)),
  z.string().transform((text) => Date.parse(text)),
  z.coerce.number(),
  z.string(),
]);
const fixtures = readVector('time-zones.txt')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => fixture.parse(line.split(/ {2,}/)));

describe('windows in which the clocks do something', () => {
  test.for(fixtures)('%s of %s on %s', ([unit, timezone, date, start, end, hours]) => {
    const zone = zoneOf(timezone);
    expect((end - start) / HOUR).toBe(hours);
    const before = calendarWindow(unit, zone, start - 1);
    const after = calendarWindow(unit, zone, end);
    expect(before.end).toBe(start);
    expect(after.start).toBe(end);
    const wall = wallOf(timezone);
    if (hours === 0) {
      expect(wall.date(after.start) > date && wall.date(before.start) < date).toBe(true);
      return;
    }
    expect(wall.date(start)).toBe(date);
    const window = { start, end };
    expect(calendarWindow(unit, zone, start)).toEqual(window);
    expect(calendarWindow(unit, zone, Math.floor((start + end) / 2))).toEqual(window);
    expect(calendarWindow(unit, zone, end - 1)).toEqual(window);
  });

  test('there are as many as were written down', () => expect(fixtures).toHaveLength(45));
});

test('a minute that is read as the old date belongs to the new day, once that has begun', () => {
  // 23:30 on the 6th by the wall; the 7th began at 02:30Z, and the clock went back at 02:31Z.
  const at = Date.parse('2010-11-07T03:00:00Z');
  expect(calendarWindow('day', zoneOf('America/St_Johns'), at).start).toBe(
    Date.parse('2010-11-07T02:30:00Z'),
  );
});

test('a fixed offset has its own midnight, and every day of it has 24 hours', () => {
  const window = calendarWindow('day', zoneOf('-03:00'), Date.parse('2026-06-03T02:59:59Z'));
  expect(window).toEqual({
    start: Date.parse('2026-06-02T03:00:00Z'),
    end: Date.parse('2026-06-03T03:00:00Z'),
  });
});

test('a month does not drift: twelve of them are a year, in leap years as well', () => {
  const lengths = (year: number): number[] =>
    Array.from({ length: 12 }, (_, month) => {
      const { start, end } = calendarWindow('month', zoneOf('UTC'), Date.UTC(year, month, 28));
      return (end - start) / HOUR / 24;
    });
  expect(lengths(2026)).toEqual([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);
  expect(lengths(2028)).toEqual([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);
});

function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
}

function readVector(name: string): string {
  return readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8');
}

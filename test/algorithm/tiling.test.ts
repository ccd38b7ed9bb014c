import { describe, expect, test } from 'vitest';
import {
  type CalendarUnit,
  type CalendarWindow,
  calendarWindow,
} from '../../src/algorithm/windows/calendar.js';
import { findZone, type Zone } from '../../src/algorithm/windows/zone.js';
import { clockChanges, FROM, TO, type Wall, wallOf } from './clock-changes.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** How long a window can be, in hours: the shortest and the longest that a zone has seen. */
const LENGTHS: Record<CalendarUnit, readonly [number, number]> = {
  day: [17, 31],
  week: [6 * 24, 8 * 24],
  month: [27 * 24, 32 * 24],
  year: [364 * 24, 367 * 24],
};

/** Whether a window may start on a local date. */
const STARTS: Record<CalendarUnit, (date: string) => boolean> = {
  day: () => true,
  week: (date) => new Date(date).getUTCDay() === 1,
  month: (date) => date.endsWith('-01'),
  year: (date) => date.endsWith('-01-01'),
};

const ZONES = Intl.supportedValuesOf('timeZone').map((name) => {
  const zone = findZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  const wall = wallOf(name);
  return { zone, wall, changes: clockChanges(wall) };
});

test('Node knows the zones of the world, and their clocks do change', () => {
  expect(ZONES.length).toBeGreaterThan(400);
  expect(ZONES.reduce((sum, { changes }) => sum + changes.length, 0)).toBeGreaterThan(20_000);
});

/**
 * Every window that the change of a clock comes near, every month and every year; of the others,
 * where windows are mere arithmetic, some.
 */
describe.each(['day', 'week', 'month', 'year'] as const)('windows of a %s tile time', (unit) => {
  test('in every zone from 1970 to 2037, without gap or overlap, and none is empty', () => {
    const whole = unit === 'month' || unit === 'year';
    for (const { zone, wall, changes } of ZONES) {
      if (whole) {
        walk(unit, zone, wall, FROM, TO);
        continue;
      }
      for (const change of changes) walk(unit, zone, wall, change - 2 * DAY, change + 2 * DAY);
      for (let at = FROM; at < TO; at += 397 * DAY) walk(unit, zone, wall, at, at + 1);
    }
  });
});

/** From the window before `from` to the one that holds `to`. */
function walk(unit: CalendarUnit, zone: Zone, wall: Wall, from: number, to: number): void {
  let last = calendarWindow(unit, zone, calendarWindow(unit, zone, from).start - 1);
  while (last.end <= to) {
    const next = calendarWindow(unit, zone, last.end);
    const fault = findFault(unit, wall, last, next);
    if (fault !== undefined) {
      throw new Error(`${zone.name}: ${fault} in ${JSON.stringify(next)}`);
    }
    last = next;
  }
}

/** Compared by hand, since `expect` would take longer than all the rest. */
function findFault(
  unit: CalendarUnit,
  wall: Wall,
  before: CalendarWindow,
  { start, end }: CalendarWindow,
): string | undefined {
  const [shortest, longest] = LENGTHS[unit];
  const date = wall.date(start);
  if (start !== before.end) return 'a gap or an overlap';
  if (end - start < shortest * HOUR || end - start > longest * HOUR) return 'a strange length';
  if (!STARTS[unit](date)) return 'a start on another date';
  if (wall.date(start - 1) >= date) return 'a start after the first instant of its date';
  return undefined;
}

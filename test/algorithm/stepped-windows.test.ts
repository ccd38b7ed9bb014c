import { describe, expect, test } from 'vitest';
import { steppedWindows, windowEnd } from '../../src/algorithm/windows/windows.js';
import { findZone } from '../../src/algorithm/windows/zone.js';
import { microseconds } from '../kit/clock.js';
import { clockChanges, wallOf } from './clock-changes.js';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The boundaries that follow an instant, as ISO texts without what is zero. */
function boundaries(step: number, timezone: string, from: string, count: number): string[] {
  const end = endIn(step, timezone);
  const found: string[] = [];
  for (let at = microseconds(from); found.length < count; ) {
    at = end(at);
    found.push(new Date(at / 1000).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

function endIn(step: number, timezone: string): (now: number) => number {
  const zone = findZone(timezone);
  if (zone === undefined) throw new Error(`no zone ${timezone}`);
  const around = steppedWindows(step, zone);
  return (now) => windowEnd(around(now), now);
}

describe('windows of equal length by the clock of a zone', () => {
  test('C063 are two where an hour is read twice', () => {
    expect(boundaries(HOUR, 'Europe/Paris', '2027-10-30T23:30:00Z', 4)).toEqual([
      ...['2027-10-31T00:00Z', '2027-10-31T01:00Z', '2027-10-31T02:00Z', '2027-10-31T03:00Z'],
    ]);
  });

  test('C067 begin on the half hour of UTC in Kolkata and on the quarter in Kathmandu', () => {
    const from = '2027-01-15T10:20:00Z';
    expect(boundaries(HOUR, 'Asia/Kolkata', from, 2)).toEqual([
      ...['2027-01-15T10:30Z', '2027-01-15T11:30Z'],
    ]);
    expect(boundaries(HOUR, 'Asia/Kathmandu', from, 1)).toEqual(['2027-01-15T11:15Z']);
    expect(boundaries(HOUR, '+05:45', from, 1)).toEqual(['2027-01-15T11:15Z']);
  });

  test('are longer by the half hour that the clocks of Lord Howe go back', () => {
    // 02:00 becomes 01:30 at 15:00Z, which is no whole hour: the hour from 01:00 lasts until 02:00.
    expect(boundaries(HOUR, 'Australia/Lord_Howe', '2026-04-04T13:30:00Z', 3)).toEqual([
      ...['2026-04-04T14:00Z', '2026-04-04T15:30Z', '2026-04-04T16:30Z'],
    ]);
  });

  test('begin when the clocks have gone forward over a boundary', () => {
    // 02:00 becomes 02:30 at 15:30Z in Lord Howe; 00:00 becomes 01:00 at 22:00Z in Cairo.
    expect(boundaries(HOUR, 'Australia/Lord_Howe', '2026-10-03T14:00:00Z', 4)).toEqual([
      ...['2026-10-03T14:30Z', '2026-10-03T15:30Z', '2026-10-03T16:00Z', '2026-10-03T17:00Z'],
    ]);
    expect(boundaries(DAY, 'Africa/Cairo', '2026-04-22T12:00:00Z', 4)).toEqual([
      ...['2026-04-22T22:00Z', '2026-04-23T22:00Z', '2026-04-24T21:00Z', '2026-04-25T21:00Z'],
    ]);
    expect(boundaries(6 * HOUR, 'America/Havana', '2026-03-08T00:00:00Z', 3)).toEqual([
      ...['2026-03-08T05:00Z', '2026-03-08T10:00Z', '2026-03-08T16:00Z'],
    ]);
  });

  test('of UTC are multiples of their length since 1970', () => {
    const end = endIn(7 * MINUTE, 'UTC');
    for (const now of [0, 1, 7 * MINUTE - 1, 7 * MINUTE, 1_780_000_000_123_456]) {
      expect(end(now)).toBe((Math.floor(now / (7 * MINUTE)) + 1) * 7 * MINUTE);
    }
  });
});

const STEPS = [15 * MINUTE, HOUR, 2 * HOUR, 5 * HOUR, DAY, 7 * DAY];

test('stepped windows tile time around every change of every clock', () => {
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const wall = wallOf(name);
    const changes = clockChanges(wall).filter((_, i) => i % 11 === 0);
    for (const step of STEPS) {
      const end = endIn(step, name);
      for (const change of changes) {
        const fault = findFault(wall.offset, end, step, change * 1000);
        if (fault !== undefined) {
          throw new Error(
            `${name}, ${step / MINUTE} minutes, ${new Date(change).toISOString()}: ${fault}`,
          );
        }
      }
    }
  }
});

/** Compared by hand, since `expect` would take longer than all the rest. */
function findFault(
  offset: (at: number) => number,
  end: (now: number) => number,
  step: number,
  change: number,
): string | undefined {
  const moved = (offset(change / 1000) - offset(change / 1000 - 1)) * 1000;
  let start = end(change - step - Math.abs(moved));
  while (start <= change + step) {
    const next = end(start);
    if (next <= start) return 'an empty window';
    if (next - start > step + Math.max(0, -moved)) return `a window of ${(next - start) / HOUR} h`;
    if (end(next - 1) !== next) return 'a gap or an overlap';
    if (end(start + Math.floor((next - start) / 2)) !== next) return 'a gap or an overlap';
    const local = next + offset(next / 1000) * 1000;
    if (local % step !== 0 && next !== change) return 'a boundary at no multiple';
    start = next;
  }
  return undefined;
}

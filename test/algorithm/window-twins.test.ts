import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, test } from 'vitest';
import { CALENDAR_UNITS } from '../../src/algorithm/windows/calendar.js';
import {
  calendarWindows,
  steppedWindows,
  type WindowsAround,
  windowEnd,
} from '../../src/algorithm/windows/windows.js';
import { findZone } from '../../src/algorithm/windows/zone.js';
import { clockChanges, wallOf } from './clock-changes.js';

const HOUR = 3_600_000_000;
const ZONES = [
  ...['Africa/Cairo', 'Africa/Casablanca', 'America/Havana', 'America/St_Johns', 'Asia/Kathmandu'],
  ...['Antarctica/Troll', 'Atlantic/Azores', 'Australia/Lord_Howe', 'Europe/Paris', 'Pacific/Apia'],
];

const redis = new Redis(inject('redis'));
afterAll(() => redis.disconnect());

/** The function of the script by itself, asked about many instants at once. */
const lua = readFileSync(new URL('../../src/algorithm/fixed-period.lua', import.meta.url), 'utf8');
const script = `
${lua.slice(lua.indexOf('local function window_end'), lua.indexOf('local function current'))}
local windows, ends = cjson.decode(ARGV[1]), {}
for i = 2, #ARGV do ends[i - 1] = string.format('%.0f', window_end(windows, tonumber(ARGV[i]))) end
return ends`;

/** Before, at and after a change of the clock, and the boundaries around it. */
function instantsAround(change: number, around: WindowsAround): number[] {
  const near = [0, 1, 1800, 3600, 7200, 86_400].flatMap((s) => [-s, s]);
  const instants = near.map((seconds) => change + seconds * 1_000_000);
  const ends = instants.map((now) => windowEnd(around(now), now));
  return [...new Set([...instants, ...ends].flatMap((at) => [at - 1, at, at + 1]))];
}

test.each(ZONES)(
  'Lua finds the boundaries that TypeScript finds, where the clocks of %s change',
  async (name) => {
    const zone = findZone(name);
    if (zone === undefined) throw new Error(`no zone ${name}`);
    const kinds: WindowsAround[] = [
      ...CALENDAR_UNITS.map((unit) => calendarWindows(unit, zone)),
      ...[0.25, 1, 2, 5, 24, 168].map((hours) => steppedWindows(hours * HOUR, zone)),
    ];
    const changes = clockChanges(wallOf(name)).slice(-40);
    for (const around of kinds) {
      for (const change of changes) {
        const windows = around(change * 1000);
        const covered = instantsAround(change * 1000, around).filter(
          (at) => at >= (windows.pieces[0]?.[0] ?? 0) && at < windows.until,
        );
        const right = covered.map((now) => `${windowEnd(windows, now)}`);
        const seen = await redis.eval(script, 0, JSON.stringify(windows), ...covered);
        expect(seen).toEqual(right);
        // Whichever windows the service knows, the store's clock gets the same answer.
        expect(right).toEqual(covered.map((now) => `${windowEnd(around(now), now)}`));
      }
    }
  },
);

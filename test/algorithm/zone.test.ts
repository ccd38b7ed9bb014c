import { expect, test } from 'vitest';
import { findZone } from '../../src/algorithm/windows/zone.js';
import { policyOf } from '../kit/policies.js';

const HOUR = 3_600_000;

test('a zone is an IANA name in any letter case, UTC, or an offset of hours and minutes', () => {
  expect(findZone('Europe/Madrid')?.name).toBe('Europe/Madrid');
  // As written, since it is in state keys and versions of Intl spell names differently.
  expect(findZone('europe/madrid')?.name).toBe('europe/madrid');
  const summer = Date.parse('2026-06-03T00:00:00Z');
  const segments = findZone('europe/madrid')?.segments(summer, summer);
  expect(segments).toEqual([{ from: summer, offset: 2 * HOUR }]);
  expect(findZone('UTC')).toMatchObject({ name: 'UTC', fixed: true });
  expect(findZone('utc')).toMatchObject({ name: 'UTC', fixed: true });
  for (const [name, offset] of [
    ['+05:30', 5.5 * HOUR],
    ['-03:00', -3 * HOUR],
    ['+14:00', 14 * HOUR],
    ['-14:00', -14 * HOUR],
    ['+00:00', 0],
    ['+12:45', 12.75 * HOUR],
  ] as const) {
    expect(findZone(name)?.segments(0, 0)).toEqual([{ from: 0, offset }]);
  }
});

test('Etc/GMT+5 is five hours behind, as POSIX has it', () => {
  expect(findZone('Etc/GMT+5')?.segments(0, 0)).toEqual([{ from: 0, offset: -5 * HOUR }]);
});

test('offsets before zones were standard have seconds', () => {
  const liberia = findZone('Africa/Monrovia')?.segments(0, 0);
  expect(liberia).toEqual([{ from: 0, offset: -(44 * 60 + 30) * 1000 }]);
});

test.for([
  ...['', ' ', 'Nowhere/Land', 'Europe/Madrid ', ' UTC', 'Z', 'local'],
  ...['+24:00', '+14:01', '-15:00', '+5:30', '+0530', '+05', '05:30', '+05:60', '+05:30:00'],
  ...['\u221203:00', '+05:30 ', 'UTC+3', 'GMT+3', 'Europe\\Madrid', '../UTC'],
])('%j is no zone', (name) => {
  expect(findZone(name)).toBeUndefined();
  const limit = `{ algorithm: fixed-period, quota: 1, period: day, timezone: ${JSON.stringify(name)} }`;
  expect(() => policyOf('p', limit)).toThrow('timezone');
});

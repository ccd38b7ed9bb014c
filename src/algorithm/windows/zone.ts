import { DAY_MS } from './units.js';

// All times here are integer milliseconds since 1970: Intl uses milliseconds, and no zone has ever
// changed its offset in the middle of one.

/** A stretch of time with a constant offset: local time is UTC plus `offset` from `from` on. */
export interface Segment {
  from: number;
  offset: number;
}

export interface Zone {
  name: string;
  /** True if the offset never changes, so that arithmetic alone finds every window. */
  fixed: boolean;
  /**
   * Returns the segments that cover `[from, to]`, in ascending order. The first one may start at
   * `from`, even if its offset applied before that.
   */
  segments(from: number, to: number): Segment[];
}

/**
 * Returns the zone for an IANA name (in any letter case), `UTC` or an offset like `+05:30`, or
 * undefined if there is no such zone. Offsets are parsed here because Intl in Node 20 rejects them.
 */
export function findZone(name: string): Zone | undefined {
  const cached = zones.get(name);
  if (cached !== undefined) return cached;
  const zone = createZone(name);
  if (zone !== undefined) zones.set(name, zone);
  return zone;
}

/** Zones by the name that was asked for. Each holds an Intl formatter of tens of kilobytes. */
const zones = new Map<string, Zone>();

function createZone(name: string): Zone | undefined {
  const offset = /^([+-])(\d\d):(\d\d)$/.exec(name);
  if (offset !== null) {
    const [hours, minutes] = [Number(offset[2]), Number(offset[3])];
    if (hours > 14 || minutes > 59 || (hours === 14 && minutes > 0)) return undefined;
    return fixedZone(name, (offset[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000);
  }
  if (name.toUpperCase() === 'UTC') return fixedZone('UTC', 0);
  // Intl also accepts offsets in other spellings, such as "+0530". They are not names.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      timeZoneName: 'longOffset',
      hour: '2-digit',
    });
    return namedZone(name, format);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fixedZone(name: string, offset: number): Zone {
  return { name, fixed: true, segments: (from) => [{ from, offset }] };
}

const MAX_CACHED_DAYS = 5_000;

function namedZone(name: string, format: Intl.DateTimeFormat): Zone {
  const offsetAt = (time: number): number => parseOffset(format.format(time));
  // A cache: finding a day's changes takes several Intl calls, and windows are computed often.
  const changesByDay = new Map<number, Segment[]>();

  const changesIn = (day: number): Segment[] => {
    const cached = changesByDay.get(day);
    if (cached !== undefined) return cached;
    const changes = findChanges(offsetAt, day * DAY_MS, (day + 1) * DAY_MS);
    if (changesByDay.size > MAX_CACHED_DAYS) changesByDay.clear();
    changesByDay.set(day, changes);
    return changes;
  };

  return {
    // The name as given, since it is part of state keys: Intl's spelling differs between versions.
    name,
    fixed: false,
    segments(from, to) {
      const segments: Segment[] = [{ from, offset: offsetAt(from) }];
      for (let day = Math.floor(from / DAY_MS); day * DAY_MS < to; day++) {
        for (const change of changesIn(day)) if (change.from > from) segments.push(change);
      }
      return segments;
    },
  };
}

/** Returns the milliseconds of `01 AM GMT+05:45`, `... GMT-00:44:30` or `... GMT`. */
function parseOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) throw new Error(`cannot read the zone offset in "${text}"`);
  const seconds = Number(match[2] ?? 0) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
  return (match[1] === '-' ? -1 : 1) * seconds * 1000;
}

/**
 * Returns the changes of offset in `(from, to]`, found by bisection. Two changes within a day that
 * cancel each other out would be missed, but no zone has had such a day.
 */
function findChanges(offsetAt: (time: number) => number, from: number, to: number): Segment[] {
  const [before, after] = [offsetAt(from), offsetAt(to)];
  if (before === after) return [];
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  const change = { from: high, offset: offsetAt(high) };
  // If the offset is not the final one yet, there is a second change on the same day.
  return change.offset === after ? [change] : [change, ...findChanges(offsetAt, high, to)];
}

/**
 * When the clocks of a time zone change. Times here are integer milliseconds since 1970, because
 * that is what Intl speaks and because no zone has ever changed at a finer grain.
 */
const DAY = 86_400_000;

/** From `from` on, local time is UTC plus `offset`, until the next segment begins. */
export interface Segment {
  from: number;
  offset: number;
}

export interface Zone {
  name: string;
  /** True if the offset never changes, so that every window can be found by arithmetic. */
  fixed: boolean;
  /**
   * The segments that cover `[from, to]`, ascending. The first may begin at `from` rather than
   * where its offset really began.
   */
  segments(from: number, to: number): Segment[];
}

/**
 * The zone of an IANA name (any letter case), `UTC` or `+HH:MM`, or undefined if there is none.
 * Fixed offsets are arithmetic, since Intl of Node 20 refuses them.
 */
export function findZone(name: string): Zone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = createZone(name);
  if (zone !== undefined) zones.set(name, zone);
  return zone;
}

/** By name as written: a formatter of Intl takes tens of kilobytes. */
const zones = new Map<string, Zone>();

function createZone(name: string): Zone | undefined {
  const fixed = /^([+-])(\d\d):(\d\d)$/.exec(name);
  if (fixed !== null) {
    const [hours, minutes] = [Number(fixed[2]), Number(fixed[3])];
    if (hours > 14 || minutes > 59 || (hours === 14 && minutes > 0)) return undefined;
    return fixedZone(name, (fixed[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000);
  }
  if (name.toUpperCase() === 'UTC') return fixedZone('UTC', 0);
  // What else Intl would take, such as "+0530", is not a name.
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

function namedZone(name: string, format: Intl.DateTimeFormat): Zone {
  const offsetAt = (time: number): number => parseOffset(format.format(time));
  // A day's offsets cost a few Intl calls; a window is asked for again and again.
  const days = new Map<number, Segment[]>();

  const changesIn = (day: number): Segment[] => {
    const known = days.get(day);
    if (known !== undefined) return known;
    const changes = findChanges(offsetAt, day * DAY, (day + 1) * DAY);
    if (days.size > 5_000) days.clear();
    days.set(day, changes);
    return changes;
  };

  return {
    // As written: what Intl makes of it differs among versions, and it is in state keys.
    name,
    fixed: false,
    segments(from, to) {
      const found: Segment[] = [{ from, offset: offsetAt(from) }];
      for (let day = Math.floor(from / DAY); day * DAY < to; day++) {
        for (const change of changesIn(day)) if (change.from > from) found.push(change);
      }
      return found;
    },
  };
}

/** `01 AM GMT+05:45`, `... GMT-00:44:30` and `... GMT` to milliseconds. */
function parseOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) throw new Error(`cannot read the zone offset in "${text}"`);
  const seconds = Number(match[2] ?? 0) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
  return (match[1] === '-' ? -1 : 1) * seconds * 1000;
}

/** Changes of offset in `(from, to]`, by halving. Two that cancel out within a day would be missed; there are none. */
function findChanges(offsetAt: (time: number) => number, from: number, to: number): Segment[] {
  const [before, after] = [offsetAt(from), offsetAt(to)];
  if (before === after) return [];
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  // Another offset than the last one means a second change in the same day.
  const change = { from: high, offset: offsetAt(high) };
  return change.offset === after ? [change] : [change, ...findChanges(offsetAt, high, to)];
}

import { type CalendarUnit, calendarWindow } from './calendar.js';
import type { Zone } from './zone.js';

/**
 * Where aligned windows begin and end, as plain numbers, so that Lua needs no time zones: the
 * store's clock picks the window, the service only says which there are. Microseconds.
 *
 * From `pieces[i][0]` on, boundaries are `pieces[i][1]` and then one every `step`, until the next
 * piece takes over. A calendar has no step: each piece is one boundary.
 */
export interface Windows {
  step?: number;
  pieces: [from: number, first: number][];
  /** The pieces say nothing about this instant and later. */
  until: number;
}

/** How far the store's clock may be from the service's before aligned windows cannot be told: two days. */
const REACH = 2 * 86_400_000_000;

/**
 * The first boundary after `now`, in microseconds. Throws if `now` is outside of what `windows`
 * covers. Its twin is in fixed-period.lua.
 */
export function windowEnd(windows: Windows, now: number): number {
  const { step, pieces, until } = windows;
  let i = pieces.length - 1;
  while (i >= 0 && (pieces[i]?.[0] ?? 0) > now) i--;
  const piece = pieces[i];
  if (piece === undefined || now >= until) {
    throw new Error('SLUICE_CLOCK the clocks of the service and of the store are days apart');
  }
  const first = piece[1];
  let end = Number.POSITIVE_INFINITY;
  if (now < first) end = first;
  else if (step !== undefined) end = first + (Math.floor((now - first) / step) + 1) * step;
  for (let next = pieces[++i]; next !== undefined && end >= next[0]; next = pieces[++i]) {
    end = next[1];
  }
  return end;
}

/** The windows around an instant, in microseconds; the same object while it still serves. */
export type WindowsAround = (now: number) => Windows;

/** Calendar days, weeks, months or years: the window of now, one before and one after. */
export function calendarWindows(unit: CalendarUnit, zone: Zone): WindowsAround {
  return remember((now) => {
    const current = calendarWindow(unit, zone, Math.floor(now / 1000));
    const before = calendarWindow(unit, zone, current.start - 1);
    const after = calendarWindow(unit, zone, current.end);
    const starts = [before.start, current.start, after.start, after.end].map((ms) => ms * 1000);
    return {
      windows: { pieces: starts.map((start) => [start, start]), until: after.end * 1000 },
      from: current.start * 1000,
      to: current.end * 1000,
    };
  });
}

/**
 * Windows of equal length whose boundaries read as multiples of the length on the zone's clock,
 * counted from 1970-01-01T00:00 there. A window in which the clocks change is longer or shorter.
 * A boundary that is read twice is two; one that is never read is where the clocks pass over it.
 */
export function steppedWindows(step: number, zone: Zone): WindowsAround {
  const boundaryFrom = (from: number, offset: number): number =>
    Math.ceil((from + offset) / step) * step - offset;
  const around = (from: number, to: number): Windows['pieces'] =>
    zone
      .segments(Math.floor(from / 1000), Math.ceil(to / 1000))
      .flatMap((segment, i, segments): Windows['pieces'] => {
        const [start, offset] = [segment.from * 1000, segment.offset * 1000];
        const first = boundaryFrom(start, offset);
        const before = (segments[i - 1]?.offset ?? segment.offset) * 1000;
        // Where clocks go forward over a boundary, it is when they do.
        const skipped = boundaryFrom(start, before) < start + offset - before;
        return skipped && first > start
          ? [
              [start, start],
              [start + 1, first],
            ]
          : [[start, first]];
      });

  if (zone.fixed) {
    const windows = { step, pieces: around(0, 0), until: Number.MAX_SAFE_INTEGER };
    return () => windows;
  }
  return remember((now) => ({
    windows: { step, pieces: around(now - REACH, now + REACH + 2 * step), until: now + REACH },
    from: now - REACH / 2,
    to: now + REACH / 2,
  }));
}

/** Keeps the last answer for as long as `now` stays in its `[from, to)`, also when clocks step back. */
function remember(
  find: (now: number) => { windows: Windows; from: number; to: number },
): WindowsAround {
  let last: ReturnType<typeof find> | undefined;
  return (now) => {
    if (last === undefined || now < last.from || now >= last.to) last = find(now);
    return last.windows;
  };
}

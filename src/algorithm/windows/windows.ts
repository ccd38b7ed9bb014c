import { type CalendarUnit, calendarWindow } from './calendar.js';
import { MICROSECONDS } from './units.js';
import type { Zone } from './zone.js';

/**
 * The boundaries of aligned windows around some instant, as plain numbers in microseconds. The
 * service computes them and the store's clock picks the window, so that Lua needs no time zones.
 *
 * From `pieces[i][0]` on, the boundaries are `pieces[i][1]` and then one every `step`, until the
 * next piece starts. Calendar windows have no step: each piece is one boundary.
 */
export interface Windows {
  step?: number;
  pieces: [from: number, first: number][];
  /** The end of what the pieces cover; this instant is not covered any more. */
  until: number;
}

/**
 * How far before and after the service's clock stepped windows are computed: two days. A check fails
 * if the store's clock is farther away than that.
 */
const REACH = 2 * MICROSECONDS.d;

/**
 * Returns the first boundary after `now`, in microseconds. Throws if `windows` does not cover `now`.
 * Its Lua twin is in fixed-period.lua.
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

/** Returns the windows around `now`, in microseconds. Returns the same object while they cover it. */
export type WindowsAround = (now: number) => Windows;

/** Calendar days, weeks, months or years: the current window, the previous one and the next one. */
export function calendarWindows(unit: CalendarUnit, zone: Zone): WindowsAround {
  return cache((now) => {
    const current = calendarWindow(unit, zone, Math.floor(now / MICROSECONDS.ms));
    const before = calendarWindow(unit, zone, current.start - 1);
    const after = calendarWindow(unit, zone, current.end);
    const starts = [before.start, current.start, after.start, after.end].map(fromMs);
    return {
      windows: { pieces: starts.map((start) => [start, start]), until: fromMs(after.end) },
      from: fromMs(current.start),
      to: fromMs(current.end),
    };
  });
}

/**
 * Windows of `step` microseconds. Their boundaries are the multiples of `step` on the zone's clocks,
 * counted from 1970-01-01T00:00 local time, so a window in which the clocks change is longer or
 * shorter. If clocks go back and show a boundary twice, it counts twice; if they skip a boundary, it
 * lies at the instant of the skip.
 */
export function steppedWindows(step: number, zone: Zone): WindowsAround {
  const boundaryFrom = (from: number, offset: number): number =>
    Math.ceil((from + offset) / step) * step - offset;
  const piecesBetween = (from: number, to: number): Windows['pieces'] =>
    zone
      .segments(Math.floor(from / MICROSECONDS.ms), Math.ceil(to / MICROSECONDS.ms))
      .flatMap((segment, i, segments): Windows['pieces'] => {
        const [start, offset] = [fromMs(segment.from), fromMs(segment.offset)];
        const first = boundaryFrom(start, offset);
        const offsetBefore = fromMs(segments[i - 1]?.offset ?? segment.offset);
        const skipsBoundary = boundaryFrom(start, offsetBefore) < start + offset - offsetBefore;
        return skipsBoundary && first > start
          ? [
              [start, start],
              [start + 1, first],
            ]
          : [[start, first]];
      });

  if (zone.fixed) {
    const windows = { step, pieces: piecesBetween(0, 0), until: Number.MAX_SAFE_INTEGER };
    return () => windows;
  }
  return cache((now) => ({
    windows: {
      step,
      pieces: piecesBetween(now - REACH, now + REACH + 2 * step),
      until: now + REACH,
    },
    from: now - REACH / 2,
    to: now + REACH / 2,
  }));
}

function fromMs(milliseconds: number): number {
  return milliseconds * MICROSECONDS.ms;
}

/**
 * Returns the last computed windows while `now` is in their `[from, to)`. Otherwise, also if the
 * clock has stepped back, it computes new ones.
 */
function cache(
  compute: (now: number) => { windows: Windows; from: number; to: number },
): WindowsAround {
  let cached: ReturnType<typeof compute> | undefined;
  return (now) => {
    if (cached === undefined || now < cached.from || now >= cached.to) cached = compute(now);
    return cached.windows;
  };
}

import { wallOf } from './clock-changes.js';

/** A limit, in the words of the YAML. */
export interface Decider {
  algorithm: string;
  quota: number;
  period: string;
  align?: string;
  timezone?: string;
}

/** A unit that was let through, and when by the clock of the key. */
interface Grant {
  at: number;
  units: number;
}

/**
 * Decides slowly and obviously: from a list of all that was ever let through, with windows found by
 * asking of every grant whether it lies in the window of now. Microseconds.
 */
export function createOracle(rules: readonly Decider[]) {
  const grants: Grant[] = [];
  const used = rules.map((decider) => countOf(decider));
  return {
    allows(now: number, cost: number): boolean {
      // A clock that goes back stands still at the last grant.
      const last = grants[grants.length - 1]?.at ?? now;
      const at = Math.max(now, last);
      const fits = rules.every(
        (decider, i) => (used[i]?.(grants, at) ?? 0) + cost <= decider.quota,
      );
      if (fits && cost > 0) grants.push({ at, units: cost });
      return fits;
    },
  };
}

type Count = (grants: readonly Grant[], now: number) => number;

function countOf(decider: Decider): Count {
  const { algorithm, period, align, timezone = 'UTC' } = decider;
  if (algorithm === 'sliding-log') {
    const length = lengthOf(period);
    return (grants, now) => sum(grants.filter(({ at }) => at > now - length));
  }
  if (algorithm !== 'fixed-period') throw new Error(`how to count ${algorithm} is not said`);
  if (align === undefined && !CALENDAR.test(period)) return fromFirst(lengthOf(period));
  const nameOf = CALENDAR.test(period) ? dateNames(period, timezone) : stepNames(period, timezone);
  return (grants, now) => sum(grants.filter(({ at }) => nameOf(at) === nameOf(now)));
}

const CALENDAR = /^(?:day|week|month|year)$/;

/** Goes through all grants from the first; one that comes after the end of a period starts another. */
function fromFirst(length: number): Count {
  return (grants, now) => {
    let period: Grant[] = [];
    for (const grant of grants) {
      const [first] = period;
      if (first === undefined || grant.at >= first.at + length) period = [];
      period.push(grant);
    }
    const [first] = period;
    return first !== undefined && now < first.at + length ? sum(period) : 0;
  };
}

/** Two instants are in one window if their dates by the wall say so. */
function dateNames(unit: string, timezone: string): (at: number) => string {
  const { date } = wallOf(timezone);
  return (at) => {
    const day = date(Math.floor(at / 1000));
    if (unit === 'day') return day;
    if (unit === 'month') return day.slice(0, 7);
    if (unit === 'year') return day.slice(0, 4);
    const monday = new Date(day);
    while (monday.getUTCDay() !== 1) monday.setUTCDate(monday.getUTCDate() - 1);
    return monday.toISOString();
  };
}

/** Two instants are in one window if the wall has shown no multiple of the length in between. */
function stepNames(period: string, timezone: string): (at: number) => number {
  const { offset } = wallOf(timezone);
  const length = lengthOf(period);
  return (at) => Math.floor((at + offset(Math.floor(at / 1000)) * 1000) / length);
}

function sum(grants: readonly Grant[]): number {
  return grants.reduce((units, grant) => units + grant.units, 0);
}

function lengthOf(period: string): number {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(period) ?? [];
  const units = { ms: 1e3, s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 };
  const found = Object.entries(units).find(([name]) => name === unit);
  if (found === undefined) throw new Error(`no length: ${period}`);
  return Number(count) * found[1];
}

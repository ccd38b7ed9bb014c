import { createHash } from 'node:crypto';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../config/settings.js';
import type { Check, Failure, FailureReason } from '../domain.js';

export type { Logger } from 'pino';

/** JSON lines on standard output; for people in a terminal. */
export function createLogger({ level, format }: Settings['log']): Logger {
  const forPeople = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true);
  return forPeople
    ? pino({ level }, pretty({ sync: true, ignore: 'pid,hostname' }))
    : // Not pino's own destination, which tries for ever to be rid of lines that nobody reads any more.
      pino({ level }, process.stdout);
}

/** A key of a caller as it may stand in a log: told apart from others, but not told. */
function keyForLog(keys: Settings['log']['keys']): (key: string) => string {
  if (keys === 'plain') return (key) => key;
  return (key) => createHash('sha256').update(key).digest('hex').slice(0, 12);
}

const QUIET_MS = 10_000;

/**
 * Logs that no decision could be made: the first time of each reason at once, and then one line in
 * ten seconds with how many there were, however many checks fail.
 */
export function createFailureLog(log: Logger, keys: Settings['log']['keys']) {
  const show = keyForLog(keys);
  const quiet = new Map<FailureReason, { until: number; count: number }>();
  return ({ id, policy, key }: Check, { reason, cause }: Failure): void => {
    const now = performance.now();
    const last = quiet.get(reason);
    if (last !== undefined && now < last.until) {
      last.count++;
      return;
    }
    const before = last?.count ?? 0;
    quiet.set(reason, { until: now + QUIET_MS, count: 0 });
    const about = { policy: policy.name, key: show(key), checkId: id };
    log.warn({ reason, cause, ...about, before }, 'no decision could be made');
  };
}

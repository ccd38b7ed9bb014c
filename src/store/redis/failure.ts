import type { Failure, FailureReason } from '../../domain.js';

/**
 * What Redis and ioredis say, in the order in which to look for it. Inside of other text on purpose:
 * Redis up to 6.2 wraps what scripts raise.
 */
const REASONS: readonly (readonly [text: string, reason: FailureReason])[] = [
  ['OOM ', 'out_of_memory'],
  ['NOAUTH', 'denied_access'],
  ['WRONGPASS', 'denied_access'],
  ['NOPERM', 'denied_access'],
  ['WRONGTYPE', 'bad_state'],
  ['SLUICE_STATE', 'bad_state'],
  ['SLUICE_CLOCK', 'clock'],
  ['READONLY', 'refused'],
  ['NOREPLICAS', 'refused'],
  ['MISCONF', 'refused'],
  ['BUSY', 'refused'],
  ['LOADING', 'unavailable'],
  ['MASTERDOWN', 'unavailable'],
  ['CLUSTERDOWN', 'unavailable'],
  ['MOVED', 'unavailable'],
  ['ASK ', 'unavailable'],
  ['TRYAGAIN', 'unavailable'],
  ['Too many Cluster redirections', 'unavailable'],
  ['Connection is closed', 'unavailable'],
  ['Command aborted', 'unavailable'],
  // The connection broke while the check was on it.
  ['Reached the max retries', 'unavailable'],
  ["isn't writeable", 'unavailable'],
  ["isn't ready", 'unavailable'],
  ['Socket timeout', 'timeout'],
  ['ECONNREFUSED', 'unavailable'],
  ['ECONNRESET', 'unavailable'],
];

/** An error of the store as the Failure that its check gets. */
export function failureOf(error: unknown): Failure {
  const cause = error instanceof Error ? error.message : String(error);
  const known = REASONS.find(([text]) => cause.includes(text));
  return { kind: 'failure', reason: known?.[1] ?? 'unexpected', cause };
}

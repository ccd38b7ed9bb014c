import type { Decider } from './algorithm/registry.js';

/** go-zero's PeriodLimit codes (core/limit/periodlimit.go), with their numbers. */
export const CODES = { UNKNOWN: 0, ALLOWED: 1, HIT_QUOTA: 2, OVER_QUOTA: 3 } as const;
export type Code = keyof typeof CODES;

/** The longest key, in bytes of UTF-8. */
export const MAX_KEY_BYTES = 1024;

/** One Algorithm with its numbers. */
export interface Limit {
  name: string;
  algorithm: string;
  quota: number;
  /** A denied attempt counts as well. */
  countDenied: boolean;
  /** The algorithm's fields as they stand in the YAML, `period: 1m30s`. */
  shown: Readonly<Record<string, string | number | boolean>>;
  decider: Decider;
}

/** Limits under one name, from YAML. Its Limits are asked in one atomic step, all or nothing. */
export interface Policy {
  name: string;
  description: string | undefined;
  limits: readonly [Limit, ...Limit[]];
}

/** What a caller asks, as it arrives: well-formed, but the policy may not exist. */
export interface CheckRequest {
  kind: 'request';
  policy: string;
  key: string;
  /** 0 peeks. */
  cost: number;
  id: string;
}

/** A request that cannot be answered as it is: which field, what was given, what was wanted. */
export interface BadRequest {
  kind: 'bad-request';
  violations: { field: string; message: string }[];
}

/** A parsed question. */
export interface Check {
  kind: 'check';
  policy: Policy;
  /** 1 to 1024 bytes of well-formed UTF-8, opaque. */
  key: string;
  cost: number;
  /** A ULID; the caller's own or ours. */
  id: string;
}

/** What one Limit answers. Times are microseconds from now. */
export interface LimitDecision {
  limit: Limit;
  allowed: boolean;
  remaining: number;
  resetAfter: number;
  /** Only on a denial that can pass later. */
  retryAfter?: number;
}

/** The answer to a Check. A denial is an answer; that nothing could be decided is a Failure. */
export interface Decision {
  kind: 'decision';
  check: Check;
  code: Exclude<Code, 'UNKNOWN'>;
  /** The strictest Limit's: the longest wait of a denial, else the least remaining. */
  strictest: LimitDecision;
  limits: readonly LimitDecision[];
  /** Who decided. Failure modes will add to it. */
  decidedBy: 'store';
}

/** Why a store could not decide; the label of a metric. */
export const FAILURE_REASONS = [
  'timeout',
  'unavailable',
  'overloaded',
  'refused',
  'out_of_memory',
  'denied_access',
  'bad_state',
  'clock',
  'closed',
  'unexpected',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** No decision could be made; the code is UNKNOWN. The cause is for the log and never for the wire. */
export interface Failure {
  kind: 'failure';
  reason: FailureReason;
  cause: string;
}

/** The request names a policy that does not exist. */
export interface UnknownPolicy {
  kind: 'unknown-policy';
  policy: string;
  /** Names that look like it, the nearest first. */
  near: string[];
}

export function isAllowed(decision: Decision): boolean {
  return decision.code !== 'OVER_QUOTA';
}

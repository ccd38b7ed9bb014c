import type { Check, Failure } from '../check.js';
import type { Outcome } from './store.js';

/**
 * The way to one Redis node, with one batch on it at a time. A check that finds it free leaves at
 * once; those that arrive meanwhile leave together in the next batch.
 *
 * Every check is answered within the time-out. One that has not left by then never leaves, so that
 * it cannot be charged after its caller was told that nothing was decided; one that has left may
 * have been charged, and is never sent again.
 */
export interface Lane {
  decide(check: Check): Promise<Outcome>;
  /** Answers all that wait. */
  close(): void;
}

export interface LaneOptions {
  /** Must not reject. Its promise is what frees the lane. */
  send(checks: readonly Check[]): Promise<Outcome[]>;
  timeoutMs: number;
}

/** These bound how long one script call holds Redis: so many checks, and so many units to remember. */
const MAX_BATCH = 128;
const MAX_UNITS = 4_000;
/** Bounds memory while a node does not answer. */
const MAX_WAITING = 20_000;

const TIMEOUT: Failure = { kind: 'failure', reason: 'timeout', cause: 'no answer in time' };
const OVERLOADED: Failure = { kind: 'failure', reason: 'overloaded', cause: 'too many wait' };
const LOST: Failure = { kind: 'failure', reason: 'unexpected', cause: 'no outcome for the check' };
const CLOSED: Failure = { kind: 'failure', reason: 'closed', cause: 'shutting down' };

interface Pending {
  check: Check;
  deadline: number;
  /** Undefined once answered. */
  answer: ((outcome: Outcome) => void) | undefined;
}

export function createLane({ send, timeoutMs }: LaneOptions): Lane {
  /** In order of arrival, and so of deadline; what is under way came before what waits. */
  let underWay: Pending[] = [];
  let waiting: Pending[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const answer = (pending: Pending, outcome: Outcome): void => {
    pending.answer?.(outcome);
    pending.answer = undefined;
  };

  const depart = (): void => {
    const size = batchSize(waiting);
    const batch = waiting.slice(0, size);
    underWay = batch;
    waiting = waiting.slice(size);
    send(batch.map(({ check }) => check)).then((outcomes) => {
      underWay = [];
      if (waiting.length > 0) depart();
      for (const [i, pending] of batch.entries()) answer(pending, outcomes[i] ?? LOST);
    });
  };

  const expire = (): void => {
    timer = undefined;
    const now = performance.now();
    const onTime = waiting.findIndex(({ deadline }) => deadline > now);
    const expired = waiting.splice(0, onTime === -1 ? waiting.length : onTime);
    for (const pending of [...underWay.filter(({ deadline }) => deadline <= now), ...expired]) {
      answer(pending, TIMEOUT);
    }
    const next = underWay.find((pending) => pending.answer !== undefined) ?? waiting[0];
    if (next !== undefined) timer = setTimeout(expire, next.deadline - now);
  };

  return {
    decide(check) {
      if (closed) return Promise.resolve(CLOSED);
      if (waiting.length >= MAX_WAITING) return Promise.resolve(OVERLOADED);
      return new Promise((resolve) => {
        waiting.push({ check, deadline: performance.now() + timeoutMs, answer: resolve });
        timer ??= setTimeout(expire, timeoutMs);
        if (underWay.length === 0) depart();
      });
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const pending of [...underWay, ...waiting.splice(0)]) answer(pending, CLOSED);
    },
  };
}

/** How many of those that wait may leave together: at least the first. */
function batchSize(waiting: readonly Pending[]): number {
  let units = 0;
  let size = 0;
  for (const { check } of waiting) {
    units += unitsOf(check);
    if (size === MAX_BATCH || (size > 0 && units > MAX_UNITS)) break;
    size++;
  }
  return size;
}

/** Cost is work for Redis where each unit is remembered by itself. */
function unitsOf({ cost, policy }: Check): number {
  if (cost <= 1) return policy.limits.length;
  return policy.limits.reduce(
    (sum, { decider }) => sum + (decider.maxCost === undefined ? 1 : cost),
    0,
  );
}

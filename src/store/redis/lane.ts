import type { Check, Failure } from '../../domain.js';
import { NO_OUTCOME, type Outcome } from '../store.js';
import type { Addressed } from './state-key.js';

/**
 * The way to one Redis node. A check that finds it free leaves at once; those that arrive meanwhile
 * leave together when the batch before them is back, or in a second one as soon as they are enough
 * to keep Redis from waiting for us.
 *
 * Every check is answered within the time-out. One that has not left by then never leaves, so that
 * it cannot be charged after its caller was told that nothing was decided; one that has left may
 * have been charged, and is never sent again.
 */
export interface Lane {
  decide(addressed: Addressed): Promise<Outcome>;
  /** Answers all that wait. */
  close(): void;
}

export interface LaneOptions {
  /** Must not reject. */
  send(batch: readonly Addressed[]): Promise<Outcome[]>;
  timeoutMs: number;
}

/** These bound how long one script call holds Redis: so many checks, and so many units to remember. */
const MAX_BATCH = 128;
const MAX_UNITS = 4_000;
/** So many batches are under way at the most, and the second only from so many checks on. */
const MAX_UNDER_WAY = 2;
const SECOND_FROM = 16;
/** Bounds memory while a node does not answer. */
const MAX_WAITING = 20_000;

const TIMEOUT: Failure = { kind: 'failure', reason: 'timeout', cause: 'no answer in time' };
const OVERLOADED: Failure = { kind: 'failure', reason: 'overloaded', cause: 'too many wait' };
const CLOSED: Failure = { kind: 'failure', reason: 'closed', cause: 'shutting down' };

interface Pending {
  addressed: Addressed;
  deadline: number;
  /** Undefined once answered. */
  answer: ((outcome: Outcome) => void) | undefined;
}

export function createLane({ send, timeoutMs }: LaneOptions): Lane {
  /** Batches, in order of arrival, and so of deadline; what is under way came before what waits. */
  const underWay: Pending[][] = [];
  let waiting: Pending[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const answer = (pending: Pending, outcome: Outcome): void => {
    pending.answer?.(outcome);
    pending.answer = undefined;
  };

  const mayDepart = (): boolean =>
    underWay.length === 0
      ? waiting.length > 0
      : underWay.length < MAX_UNDER_WAY && waiting.length >= SECOND_FROM;

  const depart = (): void => {
    const size = batchSize(waiting);
    const batch = waiting.slice(0, size);
    underWay.push(batch);
    waiting = waiting.slice(size);
    send(batch.map(({ addressed }) => addressed)).then((outcomes) => {
      underWay.splice(underWay.indexOf(batch), 1);
      // Redis works on the next while we answer these.
      if (mayDepart()) depart();
      for (const [i, pending] of batch.entries()) answer(pending, outcomes[i] ?? NO_OUTCOME);
    });
  };

  const expire = (): void => {
    timer = undefined;
    const now = performance.now();
    const onTime = waiting.findIndex(({ deadline }) => deadline > now);
    const expired = waiting.splice(0, onTime === -1 ? waiting.length : onTime);
    const late = underWay.flat().filter(({ deadline }) => deadline <= now);
    for (const pending of [...late, ...expired]) answer(pending, TIMEOUT);
    const next = underWay.flat().find((pending) => pending.answer !== undefined) ?? waiting[0];
    if (next !== undefined) timer = setTimeout(expire, next.deadline - now);
  };

  return {
    decide(addressed) {
      if (closed) return Promise.resolve(CLOSED);
      if (waiting.length >= MAX_WAITING) return Promise.resolve(OVERLOADED);
      return new Promise((resolve) => {
        waiting.push({ addressed, deadline: performance.now() + timeoutMs, answer: resolve });
        timer ??= setTimeout(expire, timeoutMs);
        if (mayDepart()) depart();
      });
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const pending of [...underWay.flat(), ...waiting.splice(0)]) answer(pending, CLOSED);
    },
  };
}

/** How many of those that wait may leave together: at least the first. */
function batchSize(waiting: readonly Pending[]): number {
  let units = 0;
  let size = 0;
  for (const { addressed } of waiting) {
    units += unitsOf(addressed.check);
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

import type { z } from 'zod';

/**
 * What one Limit says to one cost. All times are microseconds from now.
 *
 * - `allow`: the numbers are those after the charge.
 * - `wait`: denied, and the same cost passes in exactly `retryAfter` if nobody else comes.
 * - `never`: the cost is above what the Limit can ever hold, so there is no time to wait for.
 */
export type Verdict =
  | { kind: 'allow'; remaining: number; resetAfter: number }
  | { kind: 'wait'; remaining: number; resetAfter: number; retryAfter: number }
  | { kind: 'never'; remaining: number; resetAfter: number };

/**
 * A way to decide, written here in TypeScript and in the `.lua` file beside it.
 *
 * `Spec` is what the YAML says. `Numbers` is what `ask` and `charge` need of it, and nothing else:
 * its fields go to Lua in the table `limit`, beside `algorithm` and `countDenied`. `State` is what
 * is remembered for one key; absent state is `undefined`, never a zero.
 *
 * `now` is in integer microseconds and never before `time(state)`: whoever calls sees to that, so
 * that no algorithm ever meets a clock that goes back.
 */
export interface Algorithm<Spec, Numbers, State> {
  readonly name: string;
  /** The largest cost of one check, where a larger one would hold the store for too long. */
  readonly maxCost?: number;
  /** Whether `charge` in Lua needs the check's id. */
  readonly usesId?: boolean;
  /** The fields in YAML besides `name`, `algorithm` and `countDenied`. */
  readonly schema: z.ZodType<Spec> & { shape: object };
  /** What makes the state of a changed Limit unreadable; part of the state key. */
  stateTag(spec: Spec): string;
  /** The length of the window in microseconds, where it has a constant one. */
  constantPeriod(spec: Spec): number | undefined;
  /** Returns the same object for as long as the numbers are the same. */
  numbers(spec: Spec): (now: number) => Numbers;

  /** The latest instant that the state has seen, 0 if it keeps none. */
  time(state: State): number;
  /** Whether the state has come to mean what no state means, so that it may be forgotten. */
  isOver(state: State, numbers: Numbers, now: number): boolean;
  /** Decides and writes nothing. */
  ask(state: State | undefined, numbers: Numbers, cost: number, now: number): Verdict;
  /**
   * Counts `cost`, which may be a denied attempt (`countDenied`), and returns the state to keep,
   * which may be the given one, changed. What is kept stays bounded by the quota.
   */
  charge(state: State | undefined, numbers: Numbers, cost: number, now: number): State;
}

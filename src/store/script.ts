import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { algorithms } from '../algorithm/registry.js';
import type { Check, LimitDecision, Policy } from '../check.js';
import { failureOf } from './failure.js';
import { encodeKey, type KeyTemplate, keyTemplate } from './state-key.js';
import type { Outcome } from './store.js';

export interface Script {
  source: string;
  sha: string;
}

/** The algorithms' Lua and the shell around them, as one script. `read` is for tests that change a file on the way. */
export function loadScript(read = (path: URL) => readFileSync(path, 'utf8')): Script {
  const parts = algorithms.map(({ name }) => {
    const file = read(new URL(`../algorithm/${name}.lua`, import.meta.url));
    return `algorithms['${name}'] = function()\n${file}\nend`;
  });
  const shell = read(new URL('./check.lua', import.meta.url));
  const source = ['local algorithms = {}', ...parts, shell].join('\n');
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** As check.lua has them. */
const KIND = { allow: 1, wait: 2 };

/** What a policy brings to every batch that it is in. */
interface Prepared {
  keys: KeyTemplate;
  numbers: object[];
  json: string;
}

export interface ScriptCall {
  keys: string[];
  args: (string | number)[];
}

export interface Codec {
  /** The state key of a check's first Limit; all of its keys are in the slot of this one. */
  firstKey(check: Check): string;
  encode(checks: readonly Check[]): ScriptCall;
  decode(checks: readonly Check[], reply: unknown): Outcome[];
}

export interface CodecOptions {
  prefix: string;
  /** Only picks which windows Lua gets to choose from; microseconds. */
  now: () => number;
  /** Overrides the server's clock with `now`. */
  serverClock: boolean;
  /** Milliseconds that state keys outlive their meaning by. */
  graceMs: number;
}

/** Checks to KEYS and ARGV of check.lua, and its reply back to Outcomes. */
export function createCodec({ prefix, now, serverClock, graceMs }: CodecOptions): Codec {
  const known = new WeakMap<Policy, Prepared>();

  const prepare = (policy: Policy): Prepared => {
    let prepared = known.get(policy);
    if (prepared === undefined) {
      prepared = { keys: keyTemplate(prefix, policy), numbers: [], json: '' };
      known.set(policy, prepared);
    }
    return prepared;
  };

  /** A policy's numbers as JSON; they change only where a calendar turns over. */
  const numbersOf = (policy: Policy, prepared: Prepared, time: number): string => {
    let changed = false;
    for (const [i, limit] of policy.limits.entries()) {
      const numbers = limit.decider.numbers(time);
      if (prepared.numbers[i] !== numbers) changed = true;
      prepared.numbers[i] = numbers;
    }
    if (changed) prepared.json = JSON.stringify(policy.limits.map(toLua(prepared.numbers)));
    return prepared.json;
  };

  return {
    firstKey: (check) => {
      const { head, tails } = prepare(check.policy).keys;
      return head + encodeKey(check.key) + tails[0];
    },

    encode(checks) {
      const time = now();
      const keys: string[] = [];
      const args: (string | number)[] = [serverClock ? '' : time, graceMs, ''];
      const indexes = new Map<Policy, number>();
      const policies: string[] = [];
      let run: Run = { index: 0, cost: 0, ids: [] };
      for (const { policy, key, cost, id } of checks) {
        const prepared = prepare(policy);
        let index = indexes.get(policy);
        if (index === undefined) {
          index = policies.push(numbersOf(policy, prepared, time));
          indexes.set(policy, index);
        }
        const { head, tails } = prepared.keys;
        const start = head + encodeKey(key);
        for (const tail of tails) keys.push(start + tail);
        if (index === run.index && cost === run.cost) run.ids.push(id);
        else {
          closeRun(args, run);
          run = { index, cost, ids: [id] };
        }
      }
      closeRun(args, run);
      args[2] = `[${policies.join(',')}]`;
      return { keys, args };
    },

    decode(checks, reply) {
      if (!Array.isArray(reply)) throw new Error(`the script replied ${typeof reply}, not a list`);
      let at = 0;
      const next = (): number => {
        const value: unknown = reply[at++];
        if (typeof value === 'number') return value;
        if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value);
        throw new Error(`the script's reply has ${typeof value} at ${at - 1}, not a number`);
      };
      return checks.map(({ policy }): Outcome => {
        const first: unknown = reply[at];
        if (typeof first === 'string') {
          at++;
          return failureOf(first);
        }
        const limits = policy.limits.map((limit): LimitDecision => {
          const [kind, remaining, resetAfter] = [next(), next(), next()];
          const decision = { limit, allowed: kind === KIND.allow, remaining, resetAfter };
          return kind === KIND.wait ? { ...decision, retryAfter: next() } : decision;
        });
        return { kind: 'decided', limits };
      });
    },
  };
}

/** Checks that follow each other with the same policy and cost. */
interface Run {
  index: number;
  cost: number;
  ids: string[];
}

function closeRun(args: (string | number)[], { index, cost, ids }: Run): void {
  if (ids.length > 0) args.push(index, cost, ids.length, ...ids);
}

function toLua(numbers: object[]) {
  return ({ algorithm, countDenied }: { algorithm: string; countDenied: boolean }, i: number) => ({
    algorithm,
    countDenied,
    numbers: numbers[i],
  });
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { algorithms } from '../../algorithm/registry.js';
import type { Check, Limit, LimitDecision, Policy } from '../../domain.js';
import type { Outcome } from '../store.js';
import { failureOf } from './failure.js';
import { type Addressed, type KeyTemplate, keyTemplate, stemOf } from './state-key.js';

export interface Script {
  source: string;
  sha: string;
}

/** The algorithms' Lua and the shell around them, as one script. `read` is for tests that change a file on the way. */
export function loadScript(read = (path: URL) => readFileSync(path, 'utf8')): Script {
  const parts = algorithms.map(({ name }) => {
    const file = read(new URL(`../../algorithm/${name}.lua`, import.meta.url));
    return `['${name}'] = function()\n${file}\nend`;
  });
  const shell = read(new URL('../lua/check.lua', import.meta.url));
  const source = `local algorithms = {\n${parts.join(',\n')}\n}\n${shell}`;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** As check.lua has them: what a Limit answers, and in how many numbers. */
const KIND = { allow: 1, wait: 2 };
const NUMBERS = 4;

/** What a policy brings to every batch that it is in. */
interface Prepared {
  keys: KeyTemplate;
  /** Whether one of its Limits needs the ids of checks. */
  usesId: boolean;
  numbers: object[];
  json: string;
}

export interface ScriptCall {
  keys: string[];
  question: string;
}

export interface Codec {
  /** The state keys of a check, up to their limit ids. */
  stemOf(check: Check): string;
  encode(batch: readonly Addressed[]): ScriptCall;
  /** Throws at a reply that the script does not give. */
  decode(batch: readonly Addressed[], reply: unknown): Outcome[];
}

export interface CodecOptions {
  prefix: string;
  /** Only picks which windows Lua gets to choose from; microseconds. */
  now: () => number;
  /** Whether the clock of the server decides. If not, `now` does. */
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
      const usesId = policy.limits.some(({ decider }) => decider.usesId);
      prepared = { keys: keyTemplate(prefix, policy), usesId, numbers: [], json: '' };
      known.set(policy, prepared);
    }
    return prepared;
  };

  /** A policy as JSON; its numbers change only where a calendar turns over. */
  const jsonOf = (policy: Policy, prepared: Prepared, time: number): string => {
    let changed = false;
    for (let i = 0; i < policy.limits.length; i++) {
      const numbers = policy.limits[i]?.decider.numbers(time) ?? {};
      if (prepared.numbers[i] === numbers) continue;
      prepared.numbers[i] = numbers;
      changed = true;
    }
    if (changed) prepared.json = JSON.stringify(policy.limits.map(limitOf(prepared.numbers)));
    return prepared.json;
  };

  return {
    stemOf: ({ policy, key }) => stemOf(prepare(policy).keys, key),

    encode(batch) {
      const time = now();
      const keys: string[] = [];
      const policies: string[] = [];
      const indexes = new Map<Policy, number>();
      const runs: string[] = [];
      let run: Run | undefined;
      for (const { check, stem } of batch) {
        const { policy, cost, id } = check;
        const prepared = prepare(policy);
        for (const limitId of prepared.keys.limitIds) keys.push(stem + limitId);
        if (run?.policy !== policy || run.cost !== cost) {
          if (run !== undefined) runs.push(runToJson(run));
          let index = indexes.get(policy);
          if (index === undefined) {
            index = policies.push(jsonOf(policy, prepared, time));
            indexes.set(policy, index);
          }
          run = { policy, index, cost, count: 0, ids: [] };
        }
        run.count++;
        // A ULID has nothing in it to escape.
        if (prepared.usesId) run.ids.push(`"${id}"`);
      }
      if (run !== undefined) runs.push(runToJson(run));
      const clock = serverClock ? false : time;
      return { keys, question: `[${clock},${graceMs},[${policies.join(',')}],${runs.join(',')}]` };
    },

    decode(batch, reply) {
      if (!Array.isArray(reply)) throw new Error(`the script replied ${typeof reply}, not a list`);
      let at = 0;
      const outcomes = batch.map(({ check }): Outcome => {
        if (typeof reply[at] !== 'number') return failureOf(String(reply[at++]));
        const limits = check.policy.limits.map((limit): LimitDecision => {
          const kind = numberAt(reply, at);
          const allowed = kind === KIND.allow;
          const remaining = numberAt(reply, at + 1);
          const resetAfter = numberAt(reply, at + 2);
          const retryAfter = numberAt(reply, at + 3);
          at += NUMBERS;
          return kind === KIND.wait
            ? { limit, allowed, remaining, resetAfter, retryAfter }
            : { limit, allowed, remaining, resetAfter };
        });
        return { kind: 'decided', limits };
      });
      if (at !== reply.length)
        throw new Error(`the script replied ${reply.length} items, not ${at}`);
      return outcomes;
    },
  };
}

/** Checks that follow each other with the same policy and cost. */
interface Run {
  policy: Policy;
  index: number;
  cost: number;
  count: number;
  /** In quotes; none where no state has them. */
  ids: string[];
}

function runToJson({ index, cost, count, ids }: Run): string {
  const list = ids.length > 0 ? `[${ids.join(',')}]` : 'false';
  return `${index},${cost},${count},${list}`;
}

/** A number of the reply; huge ones come as text. */
function numberAt(reply: readonly unknown[], at: number): number {
  const value = reply[at];
  if (typeof value === 'number') return value;
  const number = Number(String(value));
  if (Number.isSafeInteger(number)) return number;
  throw new Error(`the script's reply has ${typeof value} at ${at}, not a number`);
}

/** A Limit as the script gets it. */
function limitOf(numbers: readonly object[]) {
  return ({ algorithm, countDenied }: Limit, i: number) => ({
    ...numbers[i],
    algorithm,
    ...(countDenied ? { countDenied } : {}),
  });
}

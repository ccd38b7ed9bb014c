import type { z } from 'zod';
import type { Algorithm } from './algorithm.js';
import { fixedPeriod } from './fixed-period.js';
import { slidingLog } from './sliding-log.js';
import { createTable, type Table } from './table.js';

/** An Algorithm with the numbers of one Limit filled in; what the numbers and states are is its own affair. */
export interface Decider {
  stateTag: string;
  quota: number;
  /** Microseconds; undefined where windows differ in length. */
  constantPeriod: number | undefined;
  /** Set if each unit of cost is work for the store: the largest that one check may bring. */
  maxCost: number | undefined;
  /** Whether `charge` in Lua needs the check's id. */
  usesId: boolean;
  /** For Lua: plain data, the same object for as long as it is the same. */
  numbers(now: number): object;
  newTable(): Table;
}

export interface RegisteredAlgorithm {
  name: string;
  /** Parses the fields of a Limit that are the algorithm's own. */
  schema: z.ZodType<Decider>;
  /** The names of those fields. */
  fields: readonly string[];
}

function register<Spec extends { quota: number }, Numbers extends object, State>(
  algorithm: Algorithm<Spec, Numbers, State>,
): RegisteredAlgorithm {
  const { name } = algorithm;
  const schema = algorithm.schema.transform((spec): Decider => {
    const numbers = algorithm.numbers(spec);
    return {
      stateTag: algorithm.stateTag(spec),
      quota: spec.quota,
      constantPeriod: algorithm.constantPeriod(spec),
      maxCost: algorithm.maxCost,
      usesId: algorithm.usesId ?? false,
      numbers,
      newTable: () => createTable(algorithm, numbers),
    };
  });
  return { name, schema, fields: Object.keys(algorithm.schema.shape) };
}

/** Every algorithm there is. Its Lua is the file of the same name beside this one. */
export const algorithms: readonly RegisteredAlgorithm[] = [
  register(slidingLog),
  register(fixedPeriod),
];

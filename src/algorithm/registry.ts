import type { z } from 'zod';
import type { Algorithm } from './algorithm.js';
import { fixedPeriod } from './fixed-period.js';
import { slidingLog } from './sliding-log.js';
import { createTable, type Table } from './table.js';

/** An Algorithm with the numbers of one Limit filled in; what the numbers and states are is its own affair. */
export interface Rule {
  stateTag: string;
  /** Microseconds; undefined where windows differ in length. */
  windowLength: number | undefined;
  /** Infinite unless each unit of cost is work for the store. */
  maxCost: number;
  /** For Lua: plain data, the same object for as long as it is the same. */
  numbers(now: number): object;
  newTable(): Table;
}

export interface RegisteredAlgorithm {
  name: string;
  /** Parses the fields of a Limit that are the algorithm's own. */
  schema: z.ZodType<Rule>;
  /** The names of those fields. */
  fields: readonly string[];
}

function register<Spec, Numbers extends object, State>(
  algorithm: Algorithm<Spec, Numbers, State>,
): RegisteredAlgorithm {
  const { name } = algorithm;
  const schema = algorithm.schema.transform((spec): Rule => {
    const numbers = algorithm.numbers(spec);
    return {
      stateTag: algorithm.stateTag(spec),
      windowLength: algorithm.windowLength(spec),
      maxCost: algorithm.maxCost ?? Number.POSITIVE_INFINITY,
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

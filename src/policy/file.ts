import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { algorithms } from '../algorithm/registry.js';
import { type FieldsAt, fieldsOf } from '../diagnostics/fields.js';
import { explainIssues, messageOf, valueAt } from '../diagnostics/issues.js';
import { ConfigError, type Mistake } from '../diagnostics/mistakes.js';
import { readYamlFile, type YamlFile } from '../diagnostics/yaml-file.js';
import type { Limit, Policy } from '../domain.js';

const MAX_LIMITS = 16;
const MAX_POLICIES = 10_000;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/;
const NAME_WANTED =
  'wanted a name of 1 to 128 letters, digits and . _ : / @ -, beginning with a letter or digit';
const name = z.string().regex(NAME, { error: NAME_WANTED });

const fileSchema = z.strictObject({ policies: z.record(z.string(), z.unknown()) });
const policySchema = z.strictObject({
  description: z.string().max(500).optional(),
  limits: z.array(z.unknown()).min(1).max(MAX_LIMITS),
});
/** The fields that every Limit may have. All other fields belong to its algorithm. */
const limitSchema = z.object({
  name: name.optional(),
  algorithm: z.enum(algorithms.map((algorithm) => algorithm.name)),
  countDenied: z.boolean().default(false),
});
/** The fields of an algorithm as written in the YAML, which callers can ask for. */
const shownSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()], {
    error: 'wanted a string, a number, or true or false',
  }),
);
const COMMON_FIELDS = Object.keys(limitSchema.shape);

/**
 * Returns the policies of a YAML file, or of all `.yaml` and `.yml` files in a folder, by name.
 * Throws a ConfigError with the mistakes of all files.
 */
export function loadPolicies(path: string): ReadonlyMap<string, Policy> {
  const policies = new Map<string, Policy>();
  const definedIn = new Map<string, string>();
  const mistakes: Mistake[] = [];
  for (const file of policyFiles(path)) {
    try {
      const yaml = readYamlFile(file);
      mistakes.push(...yaml.mistakes);
      for (const [policyName, data] of policiesOf(yaml, mistakes)) {
        const at = ['policies', policyName];
        const first = definedIn.get(policyName);
        if (first !== undefined) {
          mistakes.push(
            yaml.mistake(at, `this policy is already defined in ${first}; wanted once`),
          );
          continue;
        }
        definedIn.set(policyName, file);
        const policy = parsePolicy(policyName, data, (where, message) =>
          mistakes.push(yaml.mistake([...at, ...where], message)),
        );
        if (policy !== undefined) policies.set(policyName, policy);
      }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(...error.mistakes);
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  if (policies.size === 0 || policies.size > MAX_POLICIES) {
    const message = `wanted 1 to ${MAX_POLICIES} policies, got ${policies.size}`;
    throw new ConfigError([{ where: path, path: 'policies', message }]);
  }
  return policies;
}

function policyFiles(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const files = readdirSync(path).filter((file) => /\.ya?ml$/.test(file));
    if (files.length > 0) return files.sort().map((file) => join(path, file));
  } catch (error) {
    const message = `cannot read policies: ${messageOf(error)}`;
    throw new ConfigError([{ where: path, path: '', message }]);
  }
  const message = 'no policies: wanted a folder with .yaml or .yml files';
  throw new ConfigError([{ where: path, path: '', message }]);
}

function policiesOf(yaml: YamlFile, mistakes: Mistake[]): [string, unknown][] {
  parse(fileSchema, yaml.data, Object.keys(fileSchema.shape), (path, message) =>
    mistakes.push(yaml.mistake(path, message)),
  );
  // Policies are parsed even if the file has other mistakes, so that all are reported at once.
  const policies = valueAt(yaml.data, ['policies']);
  return typeof policies === 'object' && policies !== null ? Object.entries(policies) : [];
}

type Report = (path: readonly PropertyKey[], message: string) => void;

function parsePolicy(policyName: string, data: unknown, report: Report): Policy | undefined {
  if (!NAME.test(policyName)) report([], NAME_WANTED);
  const policy = parse(policySchema, data, Object.keys(policySchema.shape), report);
  const list = valueAt(data, ['limits']);
  if (!Array.isArray(list)) return undefined;
  const names = new Set<string>();
  const limits = list.slice(0, MAX_LIMITS).flatMap((limitData: unknown, i) => {
    const at: Report = (path, message) => report(['limits', i, ...path], message);
    const limit = parseLimit(policyName, limitData, at);
    if (limit === undefined) return [];
    if (names.has(limit.name)) {
      at(
        [],
        `another limit of this policy is also named ${limit.name}; wanted a unique name for each limit`,
      );
    }
    names.add(limit.name);
    return [limit];
  });
  const [first, ...others] = limits;
  if (policy === undefined || first === undefined) return undefined;
  return { name: policyName, description: policy.description, limits: [first, ...others] };
}

/** Parses one Limit. If it has no name, it is named after its policy. */
function parseLimit(policyName: string, data: unknown, report: Report): Limit | undefined {
  const common = parse(limitSchema, data, COMMON_FIELDS, report);
  const algorithmName = valueAt(data, ['algorithm']);
  const algorithm = algorithms.find(({ name }) => name === algorithmName);
  if (algorithm === undefined || typeof data !== 'object' || data === null) return undefined;
  const own = Object.fromEntries(
    Object.entries(data).filter(([field]) => !COMMON_FIELDS.includes(field)),
  );
  const decider = parse(algorithm.schema, own, [...COMMON_FIELDS, ...algorithm.fields], report);
  if (common === undefined || decider === undefined) return undefined;
  const shown = parse(shownSchema, own, [], report);
  if (shown === undefined) return undefined;
  return {
    name: common.name ?? policyName,
    algorithm: algorithm.name,
    quota: decider.quota,
    countDenied: common.countDenied,
    shown,
    decider,
  };
}

/**
 * Returns the parsed data, or reports every mistake and returns undefined. `fields` are the names
 * to suggest for an unknown field of `data` itself; the schema knows those of the maps inside it.
 */
function parse<T>(
  schema: z.ZodType<T>,
  data: unknown,
  fields: readonly string[],
  report: Report,
): T | undefined {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const fieldsInside = fieldsOf(schema);
  const fieldsAt: FieldsAt = (path) => (path.length === 0 ? fields : fieldsInside(path));
  for (const { path, message } of explainIssues(parsed.error, data, fieldsAt)) {
    report(path, message);
  }
  return undefined;
}

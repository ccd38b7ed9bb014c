import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '../../src/domain.js';
import { loadPolicies } from '../../src/policy/file.js';

/** The policies of a YAML text, by the way that the service takes them. */
export function policiesFrom(yaml: string): ReadonlyMap<string, Policy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-policies-'));
  try {
    const file = join(folder, 'policies.yaml');
    writeFileSync(file, yaml);
    return loadPolicies(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The one policy of a list of Limits, each as YAML in braces. */
export function policyOf(name: string, ...limits: string[]): Policy {
  const list = limits.map((limit) => `      - ${limit}`).join('\n');
  const policy = policiesFrom(`policies:\n  ${JSON.stringify(name)}:\n    limits:\n${list}\n`).get(
    name,
  );
  if (policy === undefined) throw new Error(`no policy ${name}`);
  return policy;
}

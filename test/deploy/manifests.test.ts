import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadPolicies } from '../../src/policy/file.js';
import { findCompose, has, itWith, run } from './tools.js';
import { buildValidator, type Validator } from './validator.js';

const KUBERNETES = 'deploy/kubernetes';
const FOLDERS = ['base', 'overlays/central', 'overlays/sidecar'];
const COMPOSE = 'docker-compose.yml';
const FIRST_BUILD_MS = 1_200_000;

/** Each replaces a text of a file, and is what the validator must then complain about. */
type Mistake = [file: string, from: string, to: string, said: RegExp];

/** Or why there is none. */
let validator: Validator | string = 'no Go';

beforeAll(async () => {
  // It fetches the modules of Kubernetes once, hundreds of megabytes: nothing to do to a laptop unasked.
  if (!process.env.CI) validator = 'only where CI=true is set';
  else if (has('go')) validator = await buildValidator();
  if (typeof validator === 'string') console.warn(`not validated by Go: ${validator}`);
}, FIRST_BUILD_MS);
afterAll(() => {
  if (typeof validator !== 'string') validator.remove();
});

/** A test by the Go program; it comes to it through a copy of the deployment files to spoil. */
function itWithGo(name: string, test: (validator: Validator, copy: string) => Promise<void>): void {
  it(name, async ({ skip }) => {
    if (typeof validator === 'string') return skip(validator);
    const copy = mkdtempSync(join(tmpdir(), 'sluice-deploy-'));
    try {
      cpSync(KUBERNETES, join(copy, KUBERNETES), { recursive: true });
      cpSync(COMPOSE, join(copy, COMPOSE));
      await test(validator, copy);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
}

function spoil(folder: string, [file, from, to]: Mistake): () => void {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
  return () => writeFileSync(path, text);
}

describe('the Kubernetes manifests', () => {
  itWithGo(
    'are built by kustomize into objects that the API server takes',
    async ({ kubernetes }) => {
      const kinds: string[][] = [];
      for (const folder of FOLDERS) {
        const { code, stdout, stderr } = await kubernetes(join(KUBERNETES, folder));
        expect({ folder, code, stderr }).toEqual({ folder, code: 0, stderr: '' });
        kinds.push([...stdout.matchAll(/^kind: (.*)$/gm)].map((match) => match[1] ?? '').sort());
      }
      const base = [
        ...['ConfigMap', 'Deployment', 'HorizontalPodAutoscaler', 'NetworkPolicy'],
        ...['PodDisruptionBudget', 'Service', 'Service', 'ServiceAccount'],
      ];
      const central = [...base, 'Namespace'].sort();
      expect(kinds).toEqual([base, central, ['ConfigMap', 'ConfigMap', 'Deployment']]);
    },
  );

  itWithGo(
    'are refused by the same validator with any of these mistakes',
    async ({ kubernetes }, copy) => {
      const base = (file: string): string => `${KUBERNETES}/base/${file}.yaml`;
      const mistakes: Mistake[] = [
        [
          base('deployment'),
          'readinessProbe:',
          'readynessProbe:',
          /unknown field .*readynessProbe/,
        ],
        [
          base('deployment'),
          '- name: policies\n',
          '- name: polices\n',
          /volumeMounts\[0\]\.name: Not found/,
        ],
        [
          base('deployment'),
          'runAsNonRoot: true',
          'runAsNonRoot: false',
          /restricted: .*runAsNonRoot/,
        ],
        [base('deployment'), 'cpu: "1"', 'cpu: one', /quantities must match/],
        [base('deployment'), 'path: /livez', 'port: admin', /"port" already defined/],
        [base('service-grpc'), 'targetPort: grpc', 'targetPort: gRPC', /targetPort: Invalid/],
        [base('networkpolicy'), 'protocol: UDP', 'protocol: DNS', /protocol: Unsupported/],
        [base('poddisruptionbudget'), 'AlwaysAllow', 'Always', /unhealthyPodEvictionPolicy/],
        [
          base('horizontalpodautoscaler'),
          'maxReplicas: 10',
          'maxReplicas: 1',
          /maxReplicas: Invalid/,
        ],
        [base('kustomization'), 'service.yaml', 'services.yaml', /services\.yaml/],
      ];
      for (const mistake of mistakes) {
        const mend = spoil(copy, mistake);
        const { code, stderr } = await kubernetes(join(copy, KUBERNETES, 'base'));
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(mistake[3]) });
        mend();
      }
    },
  );

  itWith('kubectl', has('kubectl'), 'are built alike by kubectl', async () => {
    for (const folder of FOLDERS) {
      const path = join(KUBERNETES, folder);
      const { code, stdout, stderr } = await run(['kubectl', 'kustomize', path]);
      expect(code, stderr).toBe(0);
      if (typeof validator === 'string') continue;
      const expected = await validator.kubernetes(path);
      expect(documents(stdout)).toEqual(documents(expected.stdout));
    }
  });

  it.each(FOLDERS)('%s has policies without mistakes', (folder) => {
    expect(loadPolicies(join(KUBERNETES, folder, 'policies.yaml')).size).toBeGreaterThan(0);
  });
});

describe('docker-compose.yml', () => {
  itWithGo(
    'is taken by the loader of Compose, and refused with any of these mistakes',
    async ({ compose }, copy) => {
      const file = join(copy, COMPOSE);
      expect(await compose(COMPOSE)).toEqual({ code: 0, stdout: '', stderr: '' });
      const mistakes: Mistake[] = [
        [COMPOSE, 'read_only: true', 'read_onyl: true', /read_onyl/],
        [COMPOSE, 'form-cluster: { condition', 'form-a-cluster: { condition', /form-a-cluster/],
        [COMPOSE, '["redis-1:/data"]', '["redis-7:/data"]', /redis-7/],
        [COMPOSE, 'condition: service_healthy', 'condition: healthy', /condition/],
      ];
      for (const mistake of mistakes) {
        const mend = spoil(copy, mistake);
        const { code, stderr } = await compose(file);
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(mistake[3]) });
        mend();
      }
    },
  );

  itWith(
    'Compose client',
    findCompose(),
    'is taken by `docker compose config`',
    async (compose) => {
      const config = (...args: string[]) => run([...compose, '-f', COMPOSE, ...args]);
      expect(await config('config', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
      const services = async (...args: string[]): Promise<string[]> =>
        (await config(...args, 'config', '--services')).stdout.trim().split('\n').sort();
      const redis = [1, 2, 3, 4, 5, 6].map((number) => `redis-${number}`);
      const all = ['form-cluster', 'grafana', 'prometheus', ...redis, 'sluice'];
      expect(await services()).toEqual(all);
      expect(await services('--profile', 'single')).toEqual(
        [...all, 'redis', 'sluice-single'].sort(),
      );
    },
  );
});

/** Objects by kind and name, since tools differ in the order that they put them in. */
function documents(text: string): Map<string, unknown> {
  const identity = z.looseObject({ kind: z.string(), metadata: z.object({ name: z.string() }) });
  return new Map(
    parseAllDocuments(text)
      .map((document): unknown => document.toJS())
      .map((object) => {
        const { kind, metadata } = identity.parse(object);
        return [`${kind} ${metadata.name}`, object];
      }),
  );
}

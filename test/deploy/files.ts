import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

/** Everything that is for deploying. */
export const deployFiles: readonly string[] = [
  ...['Dockerfile', 'docker-compose.yml', '.dockerignore'],
  ...readdirSync('deploy', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name)),
];

const name = z.string();
const probe = z.object({ httpGet: z.object({ port: name, path: z.string() }) });

const container = z.looseObject({
  name,
  image: z.string().default(''),
  ports: z.array(z.object({ name, containerPort: z.number() })).default([]),
  env: z.array(z.looseObject({ name, value: z.string().optional() })).default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z
    .object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) })
    .optional(),
  volumeMounts: z.array(z.looseObject({ name, mountPath: z.string() })).default([]),
});
export type Container = z.output<typeof container>;

const labels = z.record(z.string(), z.string());
const deployment = z.object({
  kind: z.literal('Deployment'),
  spec: z.looseObject({
    selector: z.object({ matchLabels: labels }).optional(),
    template: z.object({
      metadata: z.object({ labels: labels.optional(), annotations: labels.optional() }).optional(),
      spec: z.looseObject({
        containers: z.array(container),
        initContainers: z.array(container).default([]),
        terminationGracePeriodSeconds: z.number().optional(),
        enableServiceLinks: z.boolean().optional(),
        securityContext: z.looseObject({ runAsUser: z.number() }).optional(),
        volumes: z.array(z.looseObject({ name })).default([]),
      }),
    }),
  }),
});
export type Deployment = z.output<typeof deployment>;

/** The objects of a YAML file. */
export function readObjects(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8'), { merge: true }).map((document): unknown =>
    document.toJS(),
  );
}

export function readDeployment(file: string): Deployment {
  return deployment.parse(readObjects(file)[0]);
}

/** The variables that an image has from its Dockerfile. */
export function imageVariables(): Record<string, string> {
  const text = readFileSync('Dockerfile', 'utf8').replace(/\\\n\s*/g, '');
  const [, last] = /^ENV (.*)$/m.exec(text.slice(text.lastIndexOf('\nFROM '))) ?? [];
  const pairs = (last ?? '').split(/\s+/).map((pair) => pair.split('='));
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key, value]));
}

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { loadSettings, type Settings } from '../../src/config/settings.js';
import {
  type Container,
  type Deployment,
  imageVariables,
  readDeployment,
  readObjects,
} from './files.js';

// Where Sluice stands in the deployment files, and what it makes of what they say.

export const BASE = 'deploy/kubernetes/base';
export const CENTRAL = 'deploy/kubernetes/overlays/central';
export const SIDECAR = 'deploy/kubernetes/overlays/sidecar';

export const dockerfile = readFileSync('Dockerfile', 'utf8');
export const compose = z
  .object({
    services: z.record(
      z.string(),
      z.looseObject({
        image: z.string(),
        environment: z.record(z.string(), z.string()).default({}),
        ports: z.array(z.string()).default([]),
        volumes: z.array(z.string()).default([]),
        stop_grace_period: z.string().optional(),
      }),
    ),
  })
  .parse(readObjects('docker-compose.yml')[0]).services;

/** What Sluice makes of the variables in a container of its image. */
export function settingsWith(variables: Record<string, string>): Settings {
  return loadSettings({}, { SLUICE_CONFIG: '/dev/null', ...imageVariables(), ...variables });
}

export function variablesOf({ env }: Container): Record<string, string> {
  // What comes from a Secret is an address of Redis.
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'redis://redis:6379']));
}

/** The containers that run Sluice, with their pods. The others only use its image. */
export function sluices(): {
  file: string;
  pod: Deployment['spec']['template']['spec'];
  container: Container;
}[] {
  return [`${BASE}/deployment.yaml`, `${SIDECAR}/deployment.yaml`].flatMap((file) => {
    const pod = readDeployment(file).spec.template.spec;
    return [...pod.containers, ...pod.initContainers]
      .filter((container) => container.name === 'sluice')
      .map((container) => ({ file, pod, container }));
  });
}

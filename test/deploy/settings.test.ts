import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { settingList } from '../../src/config/settings.js';
import type { Store } from '../../src/store/store.js';
import { type Service, startService } from '../kit/service.js';
import { deployFiles, readDeployment, readObjects } from './files.js';
import {
  BASE,
  CENTRAL,
  compose,
  dockerfile,
  SIDECAR,
  settingsWith,
  sluices,
  variablesOf,
} from './sluices.js';

// Variables, ports and probes of the deployment files, held against Sluice itself.

const YAML = 'policies: { p: { limits: [{ algorithm: fixed-period, quota: 5, period: 1m }] } }';

describe('variables', () => {
  const known = new Set(['SLUICE_CONFIG', ...settingList.map(({ variable }) => variable)]);

  it.each(deployFiles)('%s names only variables that there are', (file) => {
    const names = readFileSync(file, 'utf8').match(/\bSLUICE_[A-Z0-9_]+/g) ?? [];
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  it('make the image listen on all interfaces and log JSON', () => {
    const { http, grpc, admin, log, policies, store } = settingsWith({});
    const hosts = [http, grpc, admin].map(({ host }) => host);
    expect(hosts).toEqual(['0.0.0.0', '0.0.0.0', '0.0.0.0']);
    expect([log.format, policies, store.kind]).toEqual(['json', '/etc/sluice/policies', 'memory']);
  });

  it('put the service of Compose on the Cluster and the other on one Redis', () => {
    const storeOf = (name: string) => settingsWith(compose[name]?.environment ?? {}).store;
    const nodes = [1, 2, 3, 4, 5, 6].map((number) => ({ host: `redis-${number}`, port: 6379 }));
    expect(storeOf('sluice')).toMatchObject({ redis: { mode: 'cluster', nodes } });
    const [single] = [{ host: 'redis', port: 6379 }];
    expect(storeOf('sluice-single')).toMatchObject({ redis: { mode: 'single', nodes: [single] } });
    for (const { host } of [...nodes, ...(single === undefined ? [] : [single])]) {
      expect(Object.keys(compose)).toContain(host);
    }
  });

  it('of every container on Kubernetes are settings without mistakes', () => {
    expect(sluices().map(({ file }) => dirname(file))).toEqual([BASE, SIDECAR]);
    for (const { container, pod } of sluices()) {
      expect(settingsWith(variablesOf(container)).store.kind).toBe('redis');
      // Or else Services would set variables that look like settings.
      expect(pod.enableServiceLinks).toBe(false);
    }
    const [patched] = readDeployment(`${CENTRAL}/redis.yaml`).spec.template.spec.containers;
    expect(patched && settingsWith(variablesOf(patched)).store.kind).toBe('redis');
    expect(() => settingsWith({ SLUICE_STORE: 'redis' })).toThrow('redis.url');
  });
});

describe('ports', () => {
  const { http, grpc, admin } = settingsWith({});
  const ports = { http: http.port, grpc: grpc.port, admin: admin.port };

  it('of the image are those of the settings', () => {
    const exposed = /^EXPOSE (.*)$/m.exec(dockerfile)?.[1]?.split(' ').map(Number);
    expect(exposed).toEqual(Object.values(ports));
  });

  it('of containers on Kubernetes are those of the settings, and Services lead to them', () => {
    for (const { container } of sluices()) {
      for (const { name, containerPort } of container.ports) {
        expect(ports).toHaveProperty(name, containerPort);
      }
    }
    const service = z.object({
      spec: z.object({ ports: z.array(z.object({ port: z.number(), targetPort: z.string() })) }),
    });
    for (const file of ['service', 'service-grpc']) {
      const { spec } = service.parse(readObjects(`${BASE}/${file}.yaml`)[0]);
      for (const { port, targetPort } of spec.ports) expect(ports).toHaveProperty(targetPort, port);
    }
    const policy = readFileSync(`${BASE}/networkpolicy.yaml`, 'utf8');
    const named = [...policy.matchAll(/port: ([a-z]+)/g)].map((match) => match[1] ?? '');
    expect(named).toEqual(Object.keys(ports));
    const { metadata } = readDeployment(`${BASE}/deployment.yaml`).spec.template;
    expect(metadata?.annotations?.['prometheus.io/port']).toBe(`${ports.admin}`);
  });

  it('that Compose publishes are on loopback and lead to the image', () => {
    for (const name of ['sluice', 'sluice-single']) {
      const list = compose[name]?.ports ?? [];
      const targets = list.map((port) => /^127\.0\.0\.1:\d+:(\d+)$/.exec(port)?.[1]);
      expect(targets).toEqual([`${ports.http}`, `${ports.grpc}`]);
    }
    const others = Object.entries(compose).filter(([name]) => !name.startsWith('sluice'));
    expect(others.flatMap((service) => service[1].ports)).toEqual(['127.0.0.1:3000:3000']);
    const all = Object.values(compose).flatMap((service) => service.ports);
    expect(new Set(all.map((port) => port.split(':')[1])).size).toBe(all.length);
  });

  it('that the script forms a Cluster of are those of the Redis servers', () => {
    const text = readFileSync('docker-compose.yml', 'utf8');
    const nodes = /form-cluster\.sh 3 (.*)/.exec(text)?.[1]?.split(' ');
    expect(nodes).toEqual([1, 2, 3, 4, 5, 6].map((number) => `redis-${number}:6379`));
  });

  it('that Prometheus scrapes is the admin port, under a name that Compose gives', () => {
    const text = readFileSync('deploy/compose/prometheus.yml', 'utf8');
    expect(/port: (\d+)/.exec(text)?.[1]).toBe(`${ports.admin}`);
    const alias = /names: \[(\S+)\]/.exec(text)?.[1];
    expect(readFileSync('docker-compose.yml', 'utf8')).toContain(`aliases: [${alias}]`);
  });
});

describe('probes', () => {
  let up: Service | undefined;
  let away: Service | undefined;
  const store: Store = {
    decide: async () => [],
    health: () => ({ up: false, detail: 'away' }),
    close: async () => {},
  };
  beforeAll(async () => {
    up = await startService({ yaml: YAML });
    away = await startService({ yaml: YAML, store });
  });
  afterAll(async () => {
    await Promise.all([up?.close(), away?.close()]);
  });

  it('ask paths that there are, and only readiness asks about the store', async () => {
    const statuses = async (path: string): Promise<number[]> =>
      Promise.all(
        [up, away].map(async (service) => (await fetch(`${service?.admin}${path}`)).status),
      );
    for (const { container } of sluices()) {
      const { startupProbe, livenessProbe, readinessProbe } = container;
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        expect(probe?.httpGet.port).toBe('admin');
      }
      expect(await statuses(startupProbe?.httpGet.path ?? '')).toEqual([200, 200]);
      expect(await statuses(livenessProbe?.httpGet.path ?? '')).toEqual([200, 200]);
      expect(await statuses(readinessProbe?.httpGet.path ?? '')).toEqual([200, 503]);
    }
    const healthcheck = readFileSync('deploy/image/healthcheck.mjs', 'utf8');
    expect(await statuses(/path: '(.*)'/.exec(healthcheck)?.[1] ?? '')).toEqual([200, 200]);
  });

  it('and signals leave the time that ending takes', () => {
    for (const { container, pod } of sluices()) {
      const { shutdown } = settingsWith(variablesOf(container));
      const preStop = container.lifecycle?.preStop.sleep.seconds ?? 0;
      const wanted = preStop + (shutdown.delayMs + shutdown.graceMs) / 1000;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(wanted + 5);
    }
    const { graceMs } = settingsWith({}).shutdown;
    for (const name of ['sluice', 'sluice-single']) {
      const seconds = Number.parseInt(compose[name]?.stop_grace_period ?? '', 10);
      expect(seconds * 1000).toBeGreaterThan(graceMs);
    }
  });
});

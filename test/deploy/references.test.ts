import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readDeployment, readObjects } from './files.js';
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

// Images, paths and selectors of the deployment files, held against what they lead to.

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

describe('images', () => {
  it('are built of the Node that the package wants', () => {
    const major = Number(/^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(dockerfile)?.[1]);
    expect(major).toBeGreaterThanOrEqual(20);
    expect(dockerfile.match(/^FROM (?!\$\{NODE_IMAGE\})/gm)).toBeNull();
  });

  it('of Sluice are of this version and name everywhere', () => {
    for (const { container } of sluices()) expect(container.image).toBe('sluice');
    for (const folder of [CENTRAL, SIDECAR]) {
      const text = readFileSync(`${folder}/kustomization.yaml`, 'utf8');
      expect(text).toMatch(new RegExp(`name: sluice, newName: \\S+/sluice, newTag: ${version} }`));
    }
    expect([compose.sluice?.image, compose['sluice-single']?.image]).toEqual(['sluice', 'sluice']);
  });

  it('of others have a version', () => {
    const images = Object.values(compose)
      .map(({ image }) => image)
      .filter((name) => name !== 'sluice');
    for (const image of images) expect(image).toMatch(/^\$\{[A-Z_]+:-[a-z/]+:v?\d+\.\d+[\w.-]*\}$/);
  });

  it('run as the user that the manifests name', () => {
    const user = /^USER (\d+):\d+$/m.exec(dockerfile)?.[1];
    expect(user).toBe('65532');
    for (const { pod } of sluices()) expect(pod.securityContext?.runAsUser).toBe(Number(user));
  });
});

describe('paths', () => {
  it('that the Dockerfile copies are there and get past .dockerignore', () => {
    const letIn = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .flatMap((line) => /^!(.*?)(?:\/\*\*)?$/.exec(line)?.[1] ?? []);
    const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)];
    const sources = copies.flatMap((match) => (match[1] ?? '').split(' ').slice(0, -1));
    expect(sources.length).toBeGreaterThan(5);
    for (const source of sources) {
      expect(existsSync(source), source).toBe(true);
      expect(
        letIn.some((path) => source === path || source.startsWith(`${path}/`)),
        source,
      ).toBe(true);
    }
    expect(letIn.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('that Compose mounts are there', () => {
    const binds = Object.values(compose).flatMap(({ volumes }) =>
      volumes.filter((text) => text.startsWith('.')),
    );
    expect(binds.length).toBeGreaterThan(4);
    expect(
      binds.map((bind) => bind.split(':')[0] ?? '').filter((path) => !existsSync(path)),
    ).toEqual([]);
  });

  it('that this folder tells people about are there', () => {
    const text = readFileSync('deploy/README.md', 'utf8');
    const paths = text.match(/\b(?:deploy|test|config)\/[\w./-]+\w/g) ?? [];
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('of policies are where the image looks for them', () => {
    const { policies } = settingsWith({});
    for (const { container } of sluices()) {
      const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
      expect(mounts).toContain(policies);
    }
    for (const name of ['sluice', 'sluice-single']) {
      expect(compose[name]?.volumes).toContain(`./config/policies:${policies}:ro`);
    }
    expect(dockerfile).toContain(`COPY config/policies ${policies}\n`);
  });

  it('of the Unix socket are the same on both of its sides', () => {
    const { containers, initContainers, securityContext } = readDeployment(
      `${SIDECAR}/deployment.yaml`,
    ).spec.template.spec;
    const [sluice] = initContainers;
    const [application] = containers;
    if (sluice === undefined || application === undefined) throw new Error('no such containers');
    const { socket = '' } = settingsWith(variablesOf(sluice)).grpc;
    expect(variablesOf(application)).toEqual({ RATE_LIMITER: `unix:${socket}` });
    for (const { volumeMounts } of [sluice, application]) {
      expect(volumeMounts).toContainEqual({ name: 'socket', mountPath: dirname(socket) });
    }
    // Only the owner of a socket may write to it.
    expect(securityContext).toMatchObject({ runAsUser: 65532, fsGroup: 65532 });
  });
});

describe('selectors', () => {
  it('select the pods that they are for, and none by leaving it open', () => {
    for (const [folder, file] of [
      [BASE, 'deployment.yaml'],
      [SIDECAR, 'deployment.yaml'],
    ]) {
      const { selector, template } = readDeployment(`${folder}/${file}`).spec;
      expect(Object.keys(selector?.matchLabels ?? {})).not.toEqual([]);
      expect(template.metadata?.labels).toEqual(selector?.matchLabels);
    }
    const labels = { 'app.kubernetes.io/name': 'sluice' };
    for (const [file, field, selector] of [
      ['service', 'selector', labels],
      ['service-grpc', 'selector', labels],
      ['poddisruptionbudget', 'selector', { matchLabels: labels }],
      ['networkpolicy', 'podSelector', { matchLabels: labels }],
    ] as const) {
      expect(readObjects(`${BASE}/${file}.yaml`)[0]).toHaveProperty(['spec', field], selector);
    }
  });
});

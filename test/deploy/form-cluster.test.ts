import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { createRedisStore } from '../../src/store/redis/redis.js';
import type { Store } from '../../src/store/store.js';
import { checkOf, decide } from '../kit/checks.js';
import { policiesFrom } from '../kit/policies.js';
import { until } from '../kit/until.js';
import { type RedisProcess, startAll, startRedis } from '../redis/servers.js';
import { readObjects } from './files.js';
import { type Ended, has, itWith, run } from './tools.js';

const SCRIPT = 'deploy/compose/form-cluster.sh';
const FORMED = 'form-cluster: 6 nodes serve all slots\n';

/** The flags of a node in docker-compose.yml, for one machine and without patience. */
function nodeFlags(): string[] {
  const services = z.object({
    services: z.object({ 'redis-1': z.object({ command: z.array(z.string()) }) }),
  });
  const [file] = readObjects('docker-compose.yml');
  const command = services.parse(file).services['redis-1'].command.at(-1) ?? '';
  const flags = command
    .slice(command.indexOf('--'))
    .replace(/"\$\$\(hostname -i.*?\)"/, '127.0.0.1')
    .replace('"$$(hostname)"', 'localhost')
    .replace('--cluster-node-timeout 5000', '--cluster-node-timeout 1000');
  expect(flags).not.toMatch(/\$|5000/);
  return [...flags.split(/\s+/), '--appendfsync', 'always'];
}

const [policy] = policiesFrom(
  'policies: { long: { limits: [{ algorithm: fixed-period, quota: 9, period: 30d }] } }',
).values();

describe('the script that forms the Redis Cluster of docker-compose.yml', () => {
  let nodes: RedisProcess[] = [];
  let store: Store | undefined;

  beforeAll(async () => {
    nodes = await startAll(6, () => startRedis(nodeFlags()));
  });
  afterAll(async () => {
    await store?.close();
    await Promise.all(nodes.map((node) => node.stop()));
  });

  const form = (env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    run(['sh', SCRIPT, '3', ...nodes.map(({ host, port }) => `${host}:${port}`)], env);

  /** Of each node, by its port: its id, its role, its primary and its slots. */
  const shape = async (): Promise<string[]> => {
    const text = String(await nodes[0]?.client.cluster('NODES'));
    return text
      .trim()
      .split('\n')
      .map((line) => {
        const [id, address = '', flags = '', primary, , , , , ...slots] = line.split(' ');
        const role = flags.replace('myself,', '');
        return [/:(\d+)@/.exec(address)?.[1], id, role, primary, ...slots].join(' ');
      })
      .sort();
  };

  /** What a Sluice on this Cluster says remains of a quota of 9, each time that it is asked. */
  const remaining = async (): Promise<number> => {
    if (policy === undefined) throw new Error('no policy');
    await store?.close();
    store = createRedisStore({
      settings: {
        mode: 'cluster',
        nodes: nodes.map(({ port }) => ({ host: 'localhost', port })),
        database: 0,
        prefix: 'sluice',
        timeoutMs: 1000,
      },
      clock: () => Date.now() * 1000,
    });
    const { health } = store;
    await until('the store is up', () => health().up);
    const { limits } = await decide(store, checkOf(policy));
    return limits[0]?.remaining ?? -1;
  };

  const formTest = (name: string, test: () => Promise<void>): void =>
    itWith('redis-cli', has('redis-cli'), name, test, 120_000);

  formTest('says who does not answer and ends with 1', async () => {
    const [node] = nodes;
    const { code, stdout, stderr } = await run(
      ['sh', SCRIPT, '1', `${node?.host}:${node?.port}`, '127.0.0.1:1'],
      { WAIT: '1' },
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^form-cluster: waited 1 s in vain: 127\.0\.0\.1:1 answers: .*refused/);
  });

  formTest('makes a Cluster of 3 + 3 of six new nodes, on which Sluice decides', async () => {
    expect(await form()).toEqual({ code: 0, stdout: FORMED, stderr: '' });
    const lines = await shape();
    const slots = lines.flatMap((line) => / master - (\S+)$/.exec(line)?.[1] ?? []);
    expect(slots.sort()).toEqual(['0-5460', '10922-16383', '5461-10921']);
    const primaries = lines.flatMap((line) => / slave (\S+)/.exec(line)?.[1] ?? []);
    expect(new Set(primaries).size).toBe(3);
    expect(await remaining()).toBe(8);
  });

  formTest('changes nothing when it runs again', async () => {
    const before = await shape();
    expect(await form()).toEqual({ code: 0, stdout: FORMED, stderr: '' });
    expect(await shape()).toEqual(before);
  });

  /** Ends all nodes, rewrites what each remembers of the others' addresses, and starts them again. */
  const restartWith = async (rewrite: (port: number) => string): Promise<void> => {
    const folders = await Promise.all(nodes.map(({ client }) => folderOf(client)));
    await Promise.all(nodes.map((node) => node.kill()));
    for (const folder of folders) {
      const file = join(folder, 'nodes.conf');
      const text = readFileSync(file, 'utf8');
      writeFileSync(
        file,
        text.replace(/127\.0\.0\.1:(\d+)@\d+/g, (_, port: string) => rewrite(Number(port))),
      );
    }
    await Promise.all(nodes.map((node) => node.start()));
  };
  const idsAndRoles = async (): Promise<string[]> =>
    (await shape()).map((line) => line.split(' ').slice(0, 3).join(' '));

  formTest('mends it after a restart in which all addresses changed hands', async () => {
    const before = await idsAndRoles();
    await restartWith((port) => {
      const i = nodes.findIndex((node) => node.port === port);
      const other = nodes[(i + 1) % nodes.length]?.port ?? 0;
      return `127.0.0.1:${other}@${other + 10_000}`;
    });
    expect(await form()).toEqual({ code: 0, stdout: FORMED, stderr: '' });
    expect(await idsAndRoles()).toEqual(before);
    expect(await remaining()).toBe(7);
  });

  formTest('mends it after a restart in which all addresses are new', async () => {
    const before = await idsAndRoles();
    await restartWith((port) => `127.0.9.9:${port}@${port + 10_000}`);
    expect(await form()).toEqual({ code: 0, stdout: FORMED, stderr: '' });
    expect((await idsAndRoles()).map(idOf)).toEqual(before.map(idOf));
    expect(await remaining()).toBe(6);
  });

  formTest('leaves a failover as it is', async () => {
    const old = await until('there is a primary', async () => {
      const line = (await shape()).find((text) => text.includes(' master '));
      return nodes.find(({ port }) => port === Number(line?.split(' ')[0]));
    });
    await old.kill();
    const witness = nodes.find((node) => node !== old);
    await until('a replica has taken over', async () => {
      const text = String(await witness?.client.cluster('NODES'));
      return text.split('\n').filter((line) => /master - .* connected \d/.test(line)).length === 3;
    });
    await old.start();
    expect(await form()).toEqual({ code: 0, stdout: FORMED, stderr: '' });
    expect((await shape()).find((line) => line.startsWith(`${old.port} `))).toMatch(/ slave /);
    expect(await remaining()).toBe(5);
  });
});

function idOf(line: string): string | undefined {
  return line.split(' ')[1];
}

async function folderOf(client: RedisProcess['client']): Promise<string> {
  const reply: unknown = await client.config('GET', 'dir');
  // A list, or under RESP3 a map.
  return String(Array.isArray(reply) ? reply[1] : Object.values(reply ?? {})[0]);
}

import { until } from '../kit/until.js';
import {
  type Address,
  addressOf,
  group,
  type RedisGroup,
  type RedisProcess,
  startAll,
  startRedis,
} from './servers.js';

export interface RedisCluster extends RedisGroup {
  nodes: readonly Address[];
  /** The primaries at the start, in the order of their slots. */
  primaries: readonly RedisProcess[];
}

const SLOTS = 16_384;

/** A Cluster in which every node sees every slot served and every replica in step. */
export async function startCluster(options: {
  primaries: number;
  replicas: number;
  nodeTimeoutMs?: number;
}): Promise<RedisCluster> {
  const { primaries, replicas, nodeTimeoutMs = 1000 } = options;
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
  const servers = await startAll(primaries + replicas, () => startRedis(args));
  const owners = servers.slice(0, primaries);
  const ids = await Promise.all(servers.map(async ({ client }) => text(client.cluster('MYID'))));

  for (const [i, { client }] of owners.entries()) {
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    const [first, next] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / primaries));
    const slots = Array.from({ length: (next ?? 0) - (first ?? 0) }, (_, n) => (first ?? 0) + n);
    await client.cluster('ADDSLOTS', ...slots);
  }
  for (const [i, { client }] of servers.entries()) {
    for (const { host, port } of servers.slice(i + 1)) await client.cluster('MEET', host, port);
  }
  for (const [i, { client }] of servers.entries()) {
    await until('every node knows every other', async () => {
      const nodes = (await text(client.cluster('NODES'))).trim().split('\n');
      return nodes.length === servers.length && !nodes.some((line) => line.includes('handshake'));
    });
    const owner = ids[(i - primaries) % primaries];
    if (i >= primaries && owner !== undefined) await client.call('CLUSTER', 'REPLICATE', owner);
  }
  for (const server of servers) await until('the Cluster serves', () => serves(server, options));
  for (const { client } of servers) {
    await client.config('SET', 'cluster-node-timeout', nodeTimeoutMs);
  }
  return { ...group(servers), nodes: servers.map(addressOf), primaries: owners };
}

async function serves(
  { client }: RedisProcess,
  { primaries, replicas }: { primaries: number; replicas: number },
): Promise<boolean> {
  const info = await text(client.cluster('INFO'));
  if (!/cluster_state:ok/.test(info) || !info.includes(`cluster_slots_ok:${SLOTS}`)) return false;
  const ranges: unknown = await client.cluster('SLOTS');
  if (!Array.isArray(ranges) || ranges.length !== primaries) return false;
  // Two numbers, the primary, and its replicas.
  const known = ranges.reduce<number>((sum, range: unknown[]) => sum + range.length - 3, 0);
  const replication = await client.info('replication');
  return known === replicas && !/master_link_status:down/.test(replication);
}

async function text(reply: Promise<unknown>): Promise<string> {
  return String(await reply);
}

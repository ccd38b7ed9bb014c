import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../kit/until.js';
import { HOST, startProcess } from './process.js';
import {
  type Address,
  addressOf,
  group,
  type RedisGroup,
  type RedisProcess,
  startAll,
  startRedis,
} from './servers.js';

export interface RedisSentinels extends RedisGroup {
  name: string;
  nodes: readonly Address[];
  sentinels: readonly RedisProcess[];
  /** The primary at the start and its replicas. */
  primary: RedisProcess;
  replicas: readonly RedisProcess[];
}

const SENTINEL_NAME = 'sluice-test';

/** A primary with two replicas, and three Sentinels that know all of them and each other. */
export async function startSentinels(): Promise<RedisSentinels> {
  const primary = await startRedis();
  const follow = ['--replicaof', HOST, `${primary.port}`];
  const replicas = await startAll(2, () => startRedis(follow));
  // Before the Sentinels first ask for them; they ask again only ten seconds later.
  for (const { client } of replicas) {
    await until('the replicas are in step', async () =>
      (await client.info('replication')).includes('master_link_status:up'),
    );
  }
  const sentinels = await startAll(3, () => startSentinel(primary));
  for (const { client } of sentinels) {
    // From Redis 7 on they can be made to look and talk more often than every few seconds.
    const periods = ['INFO-PERIOD', 500, 'PUBLISH-PERIOD', 500];
    await client.call('SENTINEL', 'DEBUG', ...periods).catch(() => {});
    await until('the Sentinels know each other and the replicas', async () => {
      const reply: unknown = await client.call('SENTINEL', 'MASTER', SENTINEL_NAME);
      const known = fields(reply);
      return known.get('num-slaves') === '2' && known.get('num-other-sentinels') === '2';
    });
  }
  return {
    ...group([primary, ...replicas, ...sentinels]),
    name: SENTINEL_NAME,
    nodes: sentinels.map(addressOf),
    sentinels,
    primary,
    replicas,
  };
}

function startSentinel(primary: Address): Promise<RedisProcess> {
  return startProcess({
    args: (port, folder) => {
      // A Sentinel writes what it learns into its file.
      const file = join(folder, 'sentinel.conf');
      const lines = [
        `port ${port}`,
        `bind ${HOST}`,
        `dir ${folder}`,
        `sentinel monitor ${SENTINEL_NAME} ${primary.host} ${primary.port} 2`,
        `sentinel down-after-milliseconds ${SENTINEL_NAME} 1000`,
        `sentinel failover-timeout ${SENTINEL_NAME} 5000`,
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
      return [file, '--sentinel'];
    },
  });
}

/** A flat list of names and values, or under RESP3 a map, by name. */
function fields(reply: unknown): Map<unknown, unknown> {
  if (Array.isArray(reply)) {
    const pairs = reply.flatMap((name, i) => (i % 2 === 0 ? [[name, reply[i + 1]] as const] : []));
    return new Map<unknown, unknown>(pairs);
  }
  return new Map<unknown, unknown>(Object.entries(reply ?? {}));
}

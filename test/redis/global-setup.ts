import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.js';
import { startSentinels } from './sentinels.js';
import { type Address, startRedis } from './servers.js';

declare module 'vitest' {
  /** The servers that all test files share: nobody pauses, flushes or ends them. */
  interface ProvidedContext {
    redis: Address;
    redisCluster: readonly Address[];
    redisSentinels: { name: string; nodes: readonly Address[] };
  }
}

/** Starts the shared servers before the first test and ends them after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [redis, cluster, sentinels] = await Promise.all([
    startRedis(),
    // Patient: on a busy machine a node that is late is not a node that is gone.
    startCluster({ primaries: 3, replicas: 3, nodeTimeoutMs: 15_000 }),
    startSentinels(),
  ]);
  project.provide('redis', { host: redis.host, port: redis.port });
  project.provide('redisCluster', cluster.nodes);
  project.provide('redisSentinels', { name: sentinels.name, nodes: sentinels.nodes });
  return async () => {
    await Promise.all([redis.stop(), cluster.stop(), sentinels.stop()]);
  };
}

import { Cluster, Redis } from 'ioredis';
import type { RedisSettings } from '../../src/config/settings.js';

/** What an operator would see of the state in Redis. */
export interface RedisView {
  /** The names of all state keys, in order. */
  keys(): Promise<string[]>;
  /** The only state key there is. */
  onlyKey(): Promise<string>;
  ttlMs(key: string): Promise<number>;
  /** Entries of a sorted set. */
  entries(key: string): Promise<number>;
  /** Writes a text under a name that is given without the prefix. */
  write(name: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
  close(): void;
}

export function viewRedis({ mode, nodes, prefix }: RedisSettings): RedisView {
  const [first] = nodes;
  if (first === undefined) throw new Error('no address of Redis');
  // Many a test has nothing to look at.
  const lazy = { lazyConnect: true };
  const client = mode === 'cluster' ? new Cluster(nodes, lazy) : new Redis({ ...first, ...lazy });
  const keys = async (): Promise<string[]> => {
    await client.ping();
    const servers = client instanceof Cluster ? client.nodes('master') : [client];
    const found = await Promise.all(servers.map((server) => scan(server, `${prefix}:*`)));
    return found.flat().sort();
  };
  return {
    keys,
    async onlyKey() {
      const [only, ...others] = await keys();
      if (only === undefined || others.length > 0)
        throw new Error(`${others.length} keys too many`);
      return only;
    },
    ttlMs: (key) => client.pttl(key),
    entries: (key) => client.zcard(key),
    async write(name, text) {
      await client.set(`${prefix}:${name}`, text);
    },
    async remove(key) {
      await client.unlink(key);
    },
    close: () => client.disconnect(),
  };
}

async function scan(server: Redis, pattern: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
    found.push(...keys);
    cursor = next;
  } while (cursor !== '0');
  return found;
}

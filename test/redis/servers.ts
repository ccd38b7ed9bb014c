import { HOST, type RedisProcess, startProcess } from './process.js';

export type { RedisProcess } from './process.js';

export interface Address {
  host: string;
  port: number;
}

/** Several servers that belong together. */
export interface RedisGroup {
  servers: readonly RedisProcess[];
  pids: readonly number[];
  stop(): Promise<void>;
}

/** One server, without persistence unless the arguments ask for it. */
export function startRedis(
  args: readonly string[] = [],
  options: { password?: string } = {},
): Promise<RedisProcess> {
  const { password } = options;
  const auth = password === undefined ? [] : ['--requirepass', password];
  return startProcess({ password, args: (port, dir) => [...common(port, dir), ...auth, ...args] });
}

function common(port: number, folder: string): string[] {
  const options = {
    port,
    bind: HOST,
    dir: folder,
    save: '',
    daemonize: 'no',
    // A replica need not wait for others that might come.
    'repl-diskless-sync-delay': 0,
    // A replica that has not heard from its primary yet is not listed by the Cluster.
    'repl-ping-replica-period': 1,
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
}

/** All of them, or none if one does not start. */
export async function startAll(
  count: number,
  start: () => Promise<RedisProcess>,
): Promise<RedisProcess[]> {
  const results = await Promise.allSettled(Array.from({ length: count }, start));
  const started = results.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  );
  if (started.length === count) return started;
  await Promise.all(started.map((server) => server.stop()));
  const failure = results.find((result) => result.status === 'rejected');
  throw new Error('a server did not start', { cause: failure?.reason });
}

export function group(servers: readonly RedisProcess[]): RedisGroup {
  return {
    servers,
    pids: servers.map((server) => server.pid()),
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

export function addressOf({ host, port }: RedisProcess): Address {
  return { host, port };
}

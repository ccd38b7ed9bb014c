import { createConnection, createServer, type Socket } from 'node:net';
import { HOST } from './process.js';
import type { Address } from './servers.js';

/** Stands between a store and a Redis, and can lose what Redis says. */
export interface Proxy extends Address {
  /** Lets no reply through until `restore`; the connection stays open. */
  loseReplies(): void;
  restore(): void;
  stop(): Promise<void>;
}

export async function startProxy(target: Address): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let losing = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((caller) => {
    const redis = createConnection(target);
    keep(caller);
    keep(redis);
    caller.on('data', (data) => redis.write(data));
    redis.on('data', (data) => {
      if (!losing) caller.write(data);
    });
    caller.on('close', () => redis.destroy());
    redis.on('close', () => caller.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    host: HOST,
    port: bound.port,
    loseReplies() {
      losing = true;
    },
    restore() {
      losing = false;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

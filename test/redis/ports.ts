import { createServer } from 'node:net';

/**
 * Below the range that systems give to outgoing connections, so that what is free now stays free,
 * and low enough for the Cluster's bus, which takes the port 10,000 above.
 */
const [LOWEST, HIGHEST] = [10_001, 22_000];
const BUS = 10_000;

/** A port that is free together with the one that a Cluster's bus would take. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if ((await isFree(port)) && (await isFree(port + BUS))) return port;
  }
  throw new Error('no free port for a Redis server');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

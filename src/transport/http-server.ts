import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface Server {
  address: string;
  /** Takes no new work, finishes what runs. */
  close(): Promise<void>;
}

export function httpAddress(address: string | AddressInfo | null): string {
  if (address === null || typeof address === 'string') return String(address);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

const IDLE_CHECK_MS = 20;

/**
 * Closes a server once what runs is finished. Node closes the connections that are idle when this
 * begins; those that a client keeps open after its last answer are closed here.
 */
export async function closeHttp(app: FastifyInstance): Promise<void> {
  const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  try {
    await app.close();
  } finally {
    clearInterval(timer);
  }
}

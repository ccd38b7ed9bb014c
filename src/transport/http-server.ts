import type { AddressInfo } from 'node:net';

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

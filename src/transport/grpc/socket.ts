import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { messageOf } from '../../diagnostics/issues.js';

/** The Unix socket cannot be listened on; the message begins with its path. */
export class SocketError extends Error {}

export function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

/** Listens on a Unix socket as well. Rejects with a SocketError. */
export async function bindSocket(server: Server, path: string): Promise<void> {
  await clearStaleSocket(path);
  await bind(server, `unix:${path}`).catch((error) => {
    throw new SocketError(`${path}: ${messageOf(error)}`);
  });
}

/** Removes a socket that a process left behind. Rejects if it is in use, or no socket. */
async function clearStaleSocket(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there === undefined) return;
  if (!there.isSocket()) throw new SocketError(`${path} is there already and is no socket`);
  // Only a refusal says that nobody listens: one who is busy, or whom we may not ask, is there.
  const answer = await new Promise<string>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve('it answers');
    });
    probe.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
  });
  if (answer === 'ENOENT') return;
  if (answer !== 'ECONNREFUSED') throw new SocketError(`${path} is in use (${answer})`);
  await rm(path, { force: true });
}

import { STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply } from 'fastify';
import { ERROR_NAMES } from '../../errors.js';
import { PROBLEM_TYPE, type Problem, problem } from './errors.js';

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

export function send(reply: FastifyReply, found: Problem): FastifyReply {
  return reply.code(found.status).header('content-type', PROBLEM_TYPE).send(found);
}

/** Answers what no route takes: with the methods that are wanted there, or with where to `look`. */
export function refuseTheRest(app: FastifyInstance, look: string): void {
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    const path = url.split('?', 1)[0] ?? '';
    const allow = ['GET', 'POST'].filter((other) => app.findRoute({ method: other, url: path }));
    if (allow.length === 0) {
      const detail = `nothing is at ${path.slice(0, 200)}; see ${look}`;
      return send(reply, problem(404, 'NOT_FOUND', 'Not found', detail));
    }
    reply.header('allow', allow.join(', '));
    const detail = `${method} is not allowed here; wanted ${allow.join(' or ')}`;
    return send(reply, problem(405, 'METHOD_NOT_ALLOWED', 'Method not allowed', detail));
  });
}

/** Answers what node cannot read as HTTP, before there is any request. */
export function clientErrorHandler(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, detail } = parserProblem(error.code);
  const title = STATUS_CODES[status] ?? '';
  const body = JSON.stringify(problem(status, ERROR_NAMES.badRequest, title, detail));
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy(error);
}

function parserProblem(code: string): { status: number; detail: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, detail: 'wanted smaller headers' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, detail: 'the request did not arrive in time' };
    default:
      return { status: 400, detail: 'wanted HTTP/1.1' };
  }
}

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  Server as GrpcServer,
  type Metadata,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  type status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import { type BadRequest, type CheckRequest, CODES } from '../check.js';
import type { Limiter } from '../limiter.js';
import { policyToWire, toWire } from './answer.js';
import { internalStatus, statusOf } from './grpc-status.js';
import { MAX_REQUEST_BYTES, parseCheck, parsePeek, parsePolicyName } from './request.js';

export interface GrpcOptions {
  limiter: Limiter;
  host: string;
  port: number;
  /** A Unix socket to listen on as well. */
  socket?: string | undefined;
  onError(error: unknown): void;
}

export interface GrpcService {
  addresses: string[];
  /** Health answers NOT_SERVING from now on; calls are still served. */
  drain(): void;
  /** Takes no new calls, and cuts off those that run longer than `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const SERVICE = 'sluice.v1.RateLimitService';
const MINUTE = 60_000;

/** The gRPC API, with health and reflection. Rejects if it cannot listen. */
export async function serveGrpc(options: GrpcOptions): Promise<GrpcService> {
  const { limiter, socket } = options;
  const definition = loadSync('sluice/v1/rate_limit.proto', {
    includeDirs: [fileURLToPath(new URL('../../proto', import.meta.url))],
    // 2^53 and above become numbers that are refused, however they round.
    longs: Number,
  });
  const service = definition[SERVICE];
  if (service === undefined || !isService(service)) throw new Error(`no ${SERVICE} in the proto`);

  const server = new GrpcServer({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_concurrent_streams': 1000,
    // Connections end now and then, so that load finds new instances.
    'grpc.max_connection_age_ms': 10 * MINUTE,
    'grpc.max_connection_age_grace_ms': MINUTE / 2,
    'grpc.max_connection_idle_ms': 10 * MINUTE,
    'grpc.keepalive_time_ms': MINUTE,
    'grpc.keepalive_timeout_ms': MINUTE / 3,
  });
  const health = new HealthImplementation({ '': 'SERVING', [SERVICE]: 'SERVING' });
  health.addToServer(server);
  new ReflectionService(definition).addToServer(server);

  const decide = async (request: CheckRequest | BadRequest): Promise<object> => {
    const answer = await limiter.check(request, 'grpc');
    if (answer.kind !== 'decision') throw statusOf(answer);
    return { ...toWire(answer), code: CODES[answer.code] };
  };
  const unary = (handle: (request: Message) => object | Promise<object>) => {
    return async (call: ServerUnaryCall<Message, object>, done: sendUnaryData<object>) => {
      try {
        done(null, await handle(call.request));
      } catch (error) {
        if (isStatus(error)) return done(error);
        options.onError(error);
        done(internalStatus());
      }
    };
  };

  server.addService(service, {
    Check: unary((request) => decide(parseCheck(request))),
    Peek: unary((request) => decide(parsePeek(request))),
    ListPolicies: unary(() => ({ policies: [...limiter.policies.values()].map(policyToWire) })),
    GetPolicy: unary((request) => {
      const asked = parsePolicyName(request);
      const found = asked.kind === 'named' ? limiter.find(asked.policy) : asked;
      if (found.kind !== 'policy') throw statusOf(found);
      return { policy: policyToWire(found.policy) };
    }),
  });

  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const port = await bind(server, `${host}:${options.port}`);
  const addresses = [`${host}:${port}`];
  if (socket !== undefined) {
    await clearStaleSocket(socket);
    await bind(server, `unix:${socket}`);
    addresses.push(`unix:${socket}`);
  }

  return {
    addresses,
    drain() {
      health.setStatus('', 'NOT_SERVING');
      health.setStatus(SERVICE, 'NOT_SERVING');
    },
    async close(graceMs) {
      const timer = setTimeout(() => server.forceShutdown(), graceMs);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      clearTimeout(timer);
    },
  };
}

/** What the proto decoder gives: fields that were not sent are absent. */
type Message = Record<string, unknown>;

function isService(entry: object): entry is ServiceDefinition {
  return !('format' in entry);
}

function isStatus(error: unknown): error is { code: status; details: string; metadata: Metadata } {
  return typeof error === 'object' && error !== null && 'code' in error && 'metadata' in error;
}

function bind(server: GrpcServer, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

/** Removes a socket that a process left behind. Rejects if somebody still listens on it. */
async function clearStaleSocket(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const alive = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => resolve(true));
    probe.on('error', () => resolve(false)).on('close', () => probe.destroy());
    probe.on('connect', () => probe.end());
  });
  if (alive) throw Object.assign(new Error(`${path} is in use`), { code: 'EADDRINUSE' });
  await rm(path);
}

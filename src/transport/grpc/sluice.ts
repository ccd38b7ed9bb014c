import { fileURLToPath } from 'node:url';
import type { ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import protobuf from 'protobufjs';
import { type BadRequest, type CheckRequest, CODES } from '../../domain.js';
import type { Limiter } from '../../limiter.js';
import { policyToWire, toWire } from '../wire/decision.js';
import { MAX_REQUEST_BYTES, parseCheck, parsePeek, parsePolicyName } from '../wire/request.js';
import { type Message, withOwnCodec } from './codec.js';
import { type GrpcError, internalStatus, statusOf } from './errors.js';
import { StreamEndingServer } from './server.js';
import { bind, bindSocket } from './socket.js';

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
const PROTO = fileURLToPath(new URL('../../../proto/sluice/v1/rate_limit.proto', import.meta.url));
const MINUTE = 60_000;

/** What a call comes to. */
type Reply = { message: object } | { error: GrpcError };

/**
 * The gRPC API, with health and reflection. Rejects if it cannot listen; with a SocketError if that
 * is for the socket.
 */
export async function serveGrpc(options: GrpcOptions): Promise<GrpcService> {
  const { limiter, socket } = options;
  const definition = loadSync(PROTO);
  const service = definition[SERVICE];
  if (service === undefined || !isService(service)) throw new Error(`no ${SERVICE} in the proto`);

  const server = new StreamEndingServer({
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

  const decide = async (request: CheckRequest | BadRequest): Promise<Reply> => {
    const answer = await limiter.check(request, 'grpc');
    return answer.kind === 'decision'
      ? { message: { ...toWire(answer), code: CODES[answer.code] } }
      : { error: statusOf(answer) };
  };
  const unary = (handle: (fields: Message['fields']) => Reply | Promise<Reply>) => {
    return async (
      { request }: ServerUnaryCall<Message | BadRequest, object>,
      done: sendUnaryData<object>,
    ) => {
      try {
        const read = request.kind === 'message';
        const reply = await (read ? handle(request.fields) : decide(request));
        if ('error' in reply) done(reply.error);
        else done(null, reply.message);
      } catch (error) {
        options.onError(error);
        done(internalStatus());
      }
    };
  };

  server.addService(withOwnCodec(service, protobuf.loadSync(PROTO).lookupService(SERVICE)), {
    Check: unary((fields) => decide(parseCheck(fields))),
    Peek: unary((fields) => decide(parsePeek(fields))),
    ListPolicies: unary(() => ({
      message: { policies: [...limiter.policies.values()].map(policyToWire) },
    })),
    GetPolicy: unary((fields) => {
      const asked = parsePolicyName(fields);
      const found = asked.kind === 'named' ? limiter.find(asked.policy) : asked;
      return found.kind === 'policy'
        ? { message: { policy: policyToWire(found.policy) } }
        : { error: statusOf(found) };
    }),
  });

  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const port = await bind(server, `${host}:${options.port}`);
  const addresses = [`${host}:${port}`];
  if (socket !== undefined) {
    try {
      await bindSocket(server, socket);
    } catch (error) {
      server.forceShutdown();
      throw error;
    }
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
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      server.endStreams();
      await closed;
      clearTimeout(timer);
    },
  };
}

function isService(entry: object): entry is ServiceDefinition {
  return !('format' in entry);
}

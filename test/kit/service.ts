import { Client, credentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { z } from 'zod';
import { createLimiter } from '../../src/limiter.js';
import { createMemoryStore } from '../../src/store/memory/memory.js';
import type { Store } from '../../src/store/store.js';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.js';
import { serveAdmin } from '../../src/transport/admin/server.js';
import { serveGrpc } from '../../src/transport/grpc/sluice.js';
import { serveRest } from '../../src/transport/http/sluice.js';
import { policiesFrom } from './policies.js';

export interface Service {
  rest: string;
  grpc: string;
  admin: string;
  metrics: Metrics;
  errors: unknown[];
  close(): Promise<void>;
}

/** Longer than any test takes to close. */
const GRACE_MS = 5000;

/** All transports in this process, on free ports, over one store; by default in memory, at a standstill. */
export async function startService(options: {
  yaml: string;
  store?: Store;
  clock?: () => number;
  socket?: string;
}): Promise<Service> {
  const policies = policiesFrom(options.yaml);
  const clock = options.clock ?? (() => 1_800_000_000_000_000);
  const memory = createMemoryStore({ clock, maxKeys: 1000 });
  const store = options.store ?? memory;
  const metrics = createMetrics({
    policies,
    version: '0.0.0',
    store: 'memory',
    health: store.health,
    memory,
  });
  const limiter = createLimiter(policies, store, metrics.observer);
  const errors: unknown[] = [];
  const common = {
    limiter,
    host: '127.0.0.1',
    port: 0,
    onError: (error: unknown) => errors.push(error),
  };
  const rest = await serveRest({
    ...common,
    version: '0.0.0',
    onRefused: () => metrics.observer.refused('rest', 'bad-request'),
  });
  const grpc = await serveGrpc({
    ...common,
    socket: options.socket,
  });
  const admin = await serveAdmin({
    host: '127.0.0.1',
    port: 0,
    metrics,
    readiness: () => [{ name: 'store', met: store.health().up, detail: store.health().detail }],
  });
  return {
    rest: rest.address,
    grpc: grpc.addresses[0] ?? '',
    admin: admin.address,
    metrics,
    errors,
    async close() {
      await Promise.all([rest.close(), grpc.close(GRACE_MS), admin.close()]);
      await store.close();
      await memory.close();
    },
  };
}

export interface RestAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export async function post(service: Service, body: unknown, query = ''): Promise<RestAnswer> {
  const response = await fetch(`${service.rest}/v1/check${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return readAnswer(response);
}

export async function get(service: Service, path: string): Promise<RestAnswer> {
  const response = await fetch(`${service.rest}${path}`);
  return readAnswer(response);
}

async function readAnswer(response: Response): Promise<RestAnswer> {
  const body = z.record(z.string(), z.unknown()).parse(await response.json());
  return { status: response.status, headers: response.headers, body };
}

/** What a gRPC call came to: its message, or its status. */
export type GrpcAnswer =
  | { message: Record<string, unknown> }
  | { code: number; details: string; statusDetails: string };

export interface Caller {
  /** A Buffer is sent as it is. */
  call(method: string, request: object): Promise<GrpcAnswer>;
  close(): void;
}

const SLUICE = {
  folder: 'proto',
  file: 'sluice/v1/rate_limit.proto',
  name: 'sluice.v1.RateLimitService',
};

/** A client as another service would have it: its own copy of the proto, enums as text. */
export function grpcCaller(address: string, { folder, file, name } = SLUICE): Caller {
  const definition = loadSync(file, { includeDirs: [folder], longs: Number, enums: String });
  const service = definition[name];
  if (service === undefined) throw new Error('no service in the proto');
  const methods: Record<string, unknown> = { ...service };
  const client = new Client(address, credentials.createInsecure());
  return {
    call: (method, request) =>
      new Promise((resolve) => {
        const found = methods[method];
        if (!isMethod(found)) throw new Error(`no method ${method}`);
        client.makeUnaryRequest(
          found.path,
          (value: object) => (Buffer.isBuffer(value) ? value : found.requestSerialize(value)),
          found.responseDeserialize,
          request,
          (error, message) => {
            if (error === null && message !== undefined)
              return resolve({ message: { ...message } });
            const trailer = error?.metadata.get('grpc-status-details-bin')[0];
            resolve({
              code: error?.code ?? -1,
              details: error?.details ?? '',
              statusDetails: Buffer.isBuffer(trailer) ? trailer.toString('latin1') : '',
            });
          },
        );
      }),
    close: () => client.close(),
  };
}

interface Method {
  path: string;
  requestSerialize(value: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

function isMethod(value: unknown): value is Method {
  return typeof value === 'object' && value !== null && 'requestSerialize' in value;
}

/**
 * What Sluice is measured against, with its own request and response schemas and payloads:
 * `bare`, the same fastify and grpc-js servers that answer at once and limit nothing; and `peer`,
 * rate-limiter-flexible behind fastify with ioredis, as its documentation wires it.
 */
import { Server as GrpcServer, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { fastify } from 'fastify';
import { Cluster, Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { routeSchemas } from '../../src/transport/http/openapi.js';
import { GATE, noCounts } from './workload.js';

const [, , kind = '', store = '', urls = ''] = process.argv;
const counts = noCounts();

const limit = {
  name: 'fixed-period-open',
  algorithm: 'fixed-period',
  allowed: true,
  quota: 1_000_000_000,
  remaining: 999_999_999,
  resetAfterMs: 86_400_000,
};
const decision = {
  allowed: true,
  code: 'ALLOWED',
  policy: 'fixed-period-open',
  key: 'run-1-1234',
  cost: 1,
  limit: 'fixed-period-open',
  quota: 1_000_000_000,
  remaining: 999_999_999,
  resetAfterMs: 86_400_000,
  limits: [limit],
  decidedBy: 'store',
  checkId: '01M8PGTBK2Q1NBZ4WMM39MWC4D',
  headers: {
    RateLimit: '"fixed-period-open";r=999999999;t=86400',
    'RateLimit-Policy': '"fixed-period-open";q=1000000000;w=86400',
  },
};

interface Body {
  policy: string;
  key: string;
}

/** Answers with the same fields as Sluice, from what the library knows. */
function answer({ policy, key }: Body, allowed: boolean, found: RateLimiterRes) {
  const gate = policy.endsWith('-gate');
  if (gate) counts[allowed ? 'gateAllowed' : 'gateDenied']++;
  else counts[allowed ? 'openAllowed' : 'openDenied']++;
  const quota = gate ? GATE : 1_000_000_000;
  const { remainingPoints: remaining, msBeforeNext: resetAfterMs } = found;
  const t = Math.ceil(resetAfterMs / 1000);
  const code = !allowed ? 'OVER_QUOTA' : remaining === 0 ? 'HIT_QUOTA' : 'ALLOWED';
  const headers = {
    RateLimit: `"${policy}";r=${remaining};t=${t}`,
    'RateLimit-Policy': `"${policy}";q=${quota};w=86400`,
    ...(allowed ? {} : { 'Retry-After': String(t) }),
  };
  const limits = [
    { name: policy, algorithm: 'fixed-period', allowed, quota, remaining, resetAfterMs },
  ];
  const head = {
    allowed,
    code,
    policy,
    key,
    cost: 1,
    limit: policy,
    quota,
    remaining,
    resetAfterMs,
  };
  return { ...head, limits, decidedBy: 'store', checkId: decision.checkId, headers };
}

function createLimiter(points: number, keyPrefix: string) {
  const options = { points, duration: 86_400, keyPrefix };
  if (store === 'memory') return new RateLimiterMemory(options);
  return new RateLimiterRedis({ ...options, storeClient });
}

function createClient() {
  if (store === 'memory') return undefined;
  const list = urls.split(',');
  return store === 'cluster' ? new Cluster(list) : new Redis(urls);
}

const storeClient = createClient();
const open = createLimiter(1_000_000_000, 'open');
const gate = createLimiter(GATE, 'gate');

const app = fastify({ bodyLimit: 16 * 1024, requestTimeout: 10_000 });
app.setValidatorCompiler(() => () => true);
app.get('/counts', () => counts);
app.post<{ Body: Body }>('/v1/check', { schema: routeSchemas.check }, async (request, reply) => {
  if (kind === 'bare') {
    counts.openAllowed++;
    reply.headers(decision.headers).header('cache-control', 'no-store');
    return decision;
  }
  const { body } = request;
  const limiter = body.policy.endsWith('-gate') ? gate : open;
  let result: ReturnType<typeof answer>;
  try {
    result = answer(body, true, await limiter.consume(body.key));
  } catch (denial) {
    // The library rejects for a denial and for a failure alike.
    if (!(denial instanceof RateLimiterRes)) throw denial;
    result = answer(body, false, denial);
  }
  reply.headers(result.headers).header('cache-control', 'no-store');
  return result;
});

const definition = loadSync('sluice/v1/rate_limit.proto', {
  includeDirs: ['proto'],
  longs: Number,
});
const service = definition['sluice.v1.RateLimitService'];
if (service === undefined || !isService(service)) throw new Error('no service in the proto');
const server = new GrpcServer({ 'grpc.max_concurrent_streams': 1000 });
server.addService(service, {
  Check: (_call: object, done: (error: null, message: object) => void) => {
    counts.openAllowed++;
    done(null, { ...decision, code: 1 });
  },
});

function isService(entry: object): entry is ServiceDefinition {
  return !('format' in entry);
}

await app.listen({ port: 0, host: '127.0.0.1' });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, grpc) => {
  const address = app.server.address();
  const rest = typeof address === 'object' ? address?.port : 0;
  console.log(JSON.stringify({ rest, grpc }));
});

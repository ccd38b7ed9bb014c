import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { type FastifyError, type FastifyReply, fastify } from 'fastify';
import { type BadRequest, type CheckRequest, isAllowed } from '../../domain.js';
import { ERROR_NAMES, INTERNAL_TEXT } from '../../errors.js';
import type { Limiter } from '../../limiter.js';
import { policyToWire, toWire } from '../wire/decision.js';
import { MAX_REQUEST_BYTES, parseCheck, parsePeek } from '../wire/request.js';
import { readJsonOfUtf8 } from './codec.js';
import { type Problem, problem, problemOf } from './errors.js';
import { describeApi, routeSchemas } from './openapi.js';
import {
  clientErrorHandler,
  closeHttp,
  httpAddress,
  refuseTheRest,
  type Server,
  send,
} from './server.js';

export interface RestOptions {
  limiter: Limiter;
  host: string;
  port: number;
  version: string;
  /** A request that is no check at all, such as one that is not JSON. */
  onRefused(): void;
  /** A fault of ours. */
  onError(error: Error): void;
}

/** The REST API. Rejects if it cannot listen. */
export async function serveRest(options: RestOptions): Promise<Server> {
  const { limiter, onRefused, onError } = options;
  const refuse = (error: FastifyError, reply: FastifyReply): FastifyReply => {
    const found = transportProblem(error);
    if (found.status < 500) onRefused();
    else onError(error);
    return send(reply, found);
  };
  const app = fastify({
    bodyLimit: MAX_REQUEST_BYTES,
    requestTimeout: 10_000,
    // Finishing what runs does not mean waiting for idle connections.
    forceCloseConnections: 'idle',
    // A key's bytes may each take three characters in a path.
    routerOptions: { maxParamLength: 4096 },
    clientErrorHandler,
    frameworkErrors: (error, _request, reply) => refuse(error, reply),
  });
  app.removeContentTypeParser('text/plain');
  readJsonOfUtf8(app);
  // Schemas are for documents and for fast answers; request.ts reads the request.
  app.setValidatorCompiler(() => () => true);
  app.setErrorHandler<FastifyError>((error, _request, reply) => refuse(error, reply));
  refuseTheRest(app, '/docs');

  const decide = async (
    request: CheckRequest | BadRequest,
    denyStatus: number,
    reply: FastifyReply,
  ) => {
    const answer = await limiter.check(request, 'rest');
    if (answer.kind !== 'decision') return send(reply, problemOf(answer));
    const decision = toWire(answer);
    reply.headers(decision.headers).header('cache-control', 'no-store');
    if (!isAllowed(answer)) reply.code(denyStatus);
    return decision;
  };

  await app.register(swagger, { openapi: describeApi(options.version) });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Over plain HTTP there is nothing to upgrade to, and the page would stay blank.
    transformStaticCSP: (policy) => policy.replace(/upgrade-insecure-requests;?/, ''),
    theme: { title: 'Sluice' },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list' },
  });
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());

  app.post('/v1/check', { schema: routeSchemas.check }, (request, reply) => {
    const denyStatus = readDenyStatus(request.query);
    return typeof denyStatus === 'number'
      ? decide(parseCheck(request.body), denyStatus, reply)
      : decide(denyStatus, 200, reply);
  });
  app.get('/v1/policies', { schema: routeSchemas.listPolicies }, () => ({
    policies: [...limiter.policies.values()].map(policyToWire),
  }));
  app.get<{ Params: { policy: string } }>(
    '/v1/policies/:policy',
    { schema: routeSchemas.getPolicy },
    ({ params }, reply) => {
      const found = limiter.find(params.policy);
      return found.kind === 'policy' ? policyToWire(found.policy) : send(reply, problemOf(found));
    },
  );
  app.get<{ Params: { policy: string; key: string } }>(
    '/v1/policies/:policy/keys/:key',
    { schema: routeSchemas.peek },
    ({ params }, reply) => decide(parsePeek(params), 200, reply),
  );

  await app.listen({ host: options.host, port: options.port });
  return { address: httpAddress(app.server.address()), close: () => closeHttp(app) };
}

/** The status that a denial shall have. */
function readDenyStatus(query: unknown): 200 | 429 | BadRequest {
  const entries = Object.entries(query ?? {});
  if (entries.length === 0) return 200;
  const [[name, value] = []] = entries;
  if (entries.length === 1 && name === 'denyStatus' && value === '429') return 429;
  const message = 'wanted no query, or denyStatus=429';
  return { kind: 'bad-request', violations: [{ field: '', message }] };
}

/** What fastify itself refuses, in words that say what to do. */
function transportProblem({ code, statusCode, message }: FastifyError): Problem {
  const { badRequest } = ERROR_NAMES;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem(413, badRequest, 'Too large', `wanted at most ${MAX_REQUEST_BYTES} bytes`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problem(
        415,
        badRequest,
        'Not JSON',
        'wanted the header Content-Type: application/json',
      );
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return problem(400, badRequest, 'Bad request', 'wanted a JSON object, got an empty body');
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return problem(400, badRequest, 'Not JSON', `wanted a JSON object: ${message}`);
    default:
      return statusCode !== undefined && statusCode < 500
        ? problem(statusCode, badRequest, 'Bad request', message.slice(0, 300))
        : problem(500, ERROR_NAMES.internal, 'Internal error', INTERNAL_TEXT);
  }
}

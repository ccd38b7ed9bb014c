import { fastify } from 'fastify';
import { clientErrorHandler, httpAddress, refuseTheRest, type Server } from '../http/server.js';

/** One thing that must be so before work may come. */
export interface Condition {
  name: string;
  met: boolean;
  detail: string;
}

export interface AdminOptions {
  host: string;
  port: number;
  metrics: { contentType: string; text(): Promise<string> };
  readiness(): Condition[];
}

/** Health and metrics, on a port of their own. Rejects if it cannot listen. */
export async function serveAdmin(options: AdminOptions): Promise<Server> {
  const { metrics, readiness } = options;
  const app = fastify({ forceCloseConnections: true, requestTimeout: 10_000, clientErrorHandler });
  refuseTheRest(app, '/livez, /readyz and /metrics');

  // Liveness asks nobody: a store that is away must not get the whole fleet restarted.
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));

  app.get<{ Querystring: { verbose?: string } }>('/readyz', ({ query }, reply) => {
    const conditions = readiness();
    const ready = conditions.every(({ met }) => met);
    const list = conditions
      .filter(({ met }) => query.verbose !== undefined || !met)
      .map(({ name, met, detail }) => `[${met ? '+' : '-'}] ${name}: ${detail}\n`);
    return reply
      .code(ready ? 200 : 503)
      .type('text/plain')
      .send(`${list.join('')}${ready ? 'ok' : 'not ready'}\n`);
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );

  await app.listen({ host: options.host, port: options.port });
  return { address: httpAddress(app.server.address()), close: () => app.close() };
}

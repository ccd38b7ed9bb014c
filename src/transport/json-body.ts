import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';

/** Fastify's own way to read JSON, of bytes that are text: different keys must not become one. */
export function readJsonOfUtf8(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (isUtf8(body)) return parse(request, body.toString(), done);
      done(Object.assign(new Error('wanted UTF-8'), { statusCode: 400 }));
    },
  );
}

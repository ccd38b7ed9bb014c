import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';

/**
 * Reads JSON of bytes that are text: different keys must not become one. A `__proto__` is a field
 * like any other here, since nothing is copied from what was sent; fastify searches for one.
 */
export function readJsonOfUtf8(app: FastifyInstance): void {
  const explain = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (!isUtf8(body)) return done(Object.assign(new Error('wanted UTF-8'), { statusCode: 400 }));
      const text = body.toString();
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        // Fastify finds the same mistake and has the words for it.
        return explain(request, text, done);
      }
      done(null, json);
    },
  );
}

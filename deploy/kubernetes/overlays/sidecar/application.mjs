// Stands for an application: a page for which it asks the Sluice beside it, ten a second and caller.
// It runs in the folder of Sluice's image, for the packages and the proto; yours has its own.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(`${process.cwd()}/`);
const { credentials, loadPackageDefinition } = require('@grpc/grpc-js');
const { loadSync } = require('@grpc/proto-loader');

const definition = loadSync('proto/sluice/v1/rate_limit.proto', { longs: Number });
const { RateLimitService } = loadPackageDefinition(definition).sluice.v1;
const limiter = new RateLimitService(process.env.RATE_LIMITER, credentials.createInsecure());

const server = createServer((request, response) => {
  if (request.url === '/healthy') return response.end('ok\n');
  const check = { policy: 'pages', key: request.headers['x-caller'] ?? 'anybody' };
  limiter.Check(check, { deadline: Date.now() + 100 }, (error, decision) => {
    // Without a decision it lets them in. That is the application's to choose.
    if (error) console.error(error.message);
    for (const [name, value] of Object.entries(decision?.headers ?? {})) {
      response.setHeader(name, value);
    }
    response.writeHead(decision?.allowed === false ? 429 : 200).end('a page\n');
  });
});
server.listen(Number(process.env.PORT ?? 3000));

process.on('SIGTERM', () => {
  limiter.close();
  server.close(() => process.exit(0));
});

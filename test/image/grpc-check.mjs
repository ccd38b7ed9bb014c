import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

/** A gRPC client of this project's own, which asks one Check and hangs up. */
export function createGrpcCheck(project, address) {
  const { credentials, loadPackageDefinition } = require('@grpc/grpc-js');
  const { loadSync } = require('@grpc/proto-loader');
  const definition = loadSync(join(project, 'proto/sluice/v1/rate_limit.proto'), { longs: Number });
  const { RateLimitService } = loadPackageDefinition(definition).sluice.v1;
  return (check) =>
    new Promise((resolve, reject) => {
      const client = new RateLimitService(address, credentials.createInsecure());
      client.Check(check, { deadline: Date.now() + 5000 }, (error, answer) => {
        client.close();
        if (error) reject(error);
        else resolve(answer);
      });
    });
}

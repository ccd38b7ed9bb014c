import type { Policy } from './check.js';

/** What a person who starts the service by hand wants to know: where it is, and a first question. */
export function greeting(
  addresses: { rest: string; grpc: readonly string[]; admin: string },
  policies: ReadonlyMap<string, Policy>,
): string {
  const { rest, grpc, admin } = addresses;
  const policy = policies.has('login') ? 'login' : [...policies.keys()][0];
  const body = JSON.stringify({ policy, key: 'user-1' });
  return `
  REST    ${rest}   (${rest}/docs)
  gRPC    ${grpc.join(', ')}
  admin   ${admin}   (/livez, /readyz, /metrics)

  Try:  curl -s ${rest}/v1/check -H 'content-type: application/json' -d '${body}'

`;
}

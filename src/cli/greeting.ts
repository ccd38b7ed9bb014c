import type { Policy } from '../domain.js';

/** What a person who starts the service by hand wants to know: where it is, and a first question. */
export function greeting(
  addresses: { rest: string; grpc: readonly string[]; admin: string },
  policies: ReadonlyMap<string, Policy>,
): string {
  const { rest, grpc, admin } = addresses;
  const policy = policies.has('login') ? 'login' : [...policies.keys()][0];
  // An address that means all of them is none to call.
  const here = rest.replace(/\/\/(?:0\.0\.0\.0|\[::\])/, '//127.0.0.1');
  const body = JSON.stringify({ policy, key: 'user-1' });
  return `
  REST    ${rest}   (${here}/docs)
  gRPC    ${grpc.join(', ')}
  admin   ${admin}   (/livez, /readyz, /metrics)

  Try:  curl -s ${here}/v1/check -H 'content-type: application/json' -d '${body}'

`;
}

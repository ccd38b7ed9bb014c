import type { Policy } from '../domain.js';

/** Returns what a person who starts the service by hand reads: its addresses and a check to try. */
export function greeting(
  addresses: { rest: string; grpc: readonly string[]; admin: string },
  policies: ReadonlyMap<string, Policy>,
): string {
  const { rest, grpc, admin } = addresses;
  const policy = policies.has('login') ? 'login' : [...policies.keys()][0];
  // A service that listens on all interfaces is called on loopback.
  const callable = rest.replace(/\/\/(?:0\.0\.0\.0|\[::\])/, '//127.0.0.1');
  const body = JSON.stringify({ policy, key: 'user-1' });
  return `
  REST    ${rest}   (${callable}/docs)
  gRPC    ${grpc.join(', ')}
  admin   ${admin}   (/livez, /readyz, /metrics)

  Try:  curl -s ${callable}/v1/check -H 'content-type: application/json' -d '${body}'

`;
}

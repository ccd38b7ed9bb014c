import type { Check, CheckRequest, Decision, Failure, Policy, UnknownPolicy } from './check.js';
import { nearNames } from './config/near.js';
import { toDecision } from './decision.js';
import type { Store } from './store/store.js';

export type Transport = 'rest' | 'grpc';
export type Answer = Decision | Failure | UnknownPolicy;

/** What is counted, once for all transports. */
export interface Observer {
  /** Every check that has arrived is answered, some time. */
  arrived(): void;
  decided(decision: Decision): void;
  failed(policy: Policy, failure: Failure): void;
  /** How long the store took, and the whole check; in seconds. */
  stored(seconds: number): void;
  answered(transport: Transport, seconds: number): void;
}

export interface Limiter {
  policies: ReadonlyMap<string, Policy>;
  find(name: string): { kind: 'policy'; policy: Policy } | UnknownPolicy;
  /** Never rejects: a denial, a store that fails and an unknown policy are answers of their own. */
  check(request: CheckRequest, transport: Transport): Promise<Answer>;
}

/** One Check to one Decision. */
export function createLimiter(
  policies: ReadonlyMap<string, Policy>,
  store: Store,
  observer: Observer,
): Limiter {
  const decide = async (check: Check): Promise<Decision | Failure> => {
    const started = performance.now();
    const [outcome] = await store.decide([check]);
    observer.stored((performance.now() - started) / 1000);
    if (outcome === undefined) throw new Error('the store gave no outcome');
    // The place where a policy's failure mode will decide instead.
    return outcome.kind === 'failure' ? outcome : toDecision(check, outcome.limits);
  };

  const find: Limiter['find'] = (name) => {
    const policy = policies.get(name);
    if (policy !== undefined) return { kind: 'policy', policy };
    return { kind: 'unknown-policy', policy: name, near: nearNames(name, policies.keys()) };
  };

  return {
    policies,
    find,
    async check({ policy: name, key, cost, id }, transport) {
      const started = performance.now();
      const found = find(name);
      if (found.kind !== 'policy') return found;
      const { policy } = found;
      observer.arrived();
      const answer = await decide({ policy, key, cost, id });
      if (answer.kind === 'decision') observer.decided(answer);
      else observer.failed(policy, answer);
      observer.answered(transport, (performance.now() - started) / 1000);
      return answer;
    },
  };
}

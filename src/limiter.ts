import type {
  BadRequest,
  Check,
  CheckRequest,
  Decision,
  Failure,
  Policy,
  UnknownPolicy,
} from './check.js';
import { nearNames } from './config/near.js';
import { toDecision } from './decision.js';
import type { Store } from './store/store.js';

export type Transport = 'rest' | 'grpc';
export type Answer = Decision | Failure | UnknownPolicy | BadRequest;

/** What is counted and logged, once for all transports. */
export interface Observer {
  /** A request that cannot be answered as it is. */
  refused(transport: Transport): void;
  /** Every check that has arrived is answered, some time. */
  arrived(): void;
  decided(decision: Decision): void;
  failed(check: Check, failure: Failure): void;
  /** How long the store took, and the whole check; in seconds. */
  stored(seconds: number): void;
  answered(transport: Transport, seconds: number): void;
}

export interface Limiter {
  policies: ReadonlyMap<string, Policy>;
  find(name: string): { kind: 'policy'; policy: Policy } | UnknownPolicy;
  /**
   * Answers what a transport has read. Never rejects: a denial, a bad request, an unknown policy and
   * a store that fails are four answers.
   */
  check(request: CheckRequest | BadRequest, transport: Transport): Promise<Answer>;
}

/** One Check to one Decision. */
export function createLimiter(
  policies: ReadonlyMap<string, Policy>,
  store: Store,
  observer: Observer,
): Limiter {
  const find: Limiter['find'] = (name) => {
    const policy = policies.get(name);
    if (policy !== undefined) return { kind: 'policy', policy };
    return { kind: 'unknown-policy', policy: name, near: nearNames(name, policies.keys()) };
  };

  const parse = ({ policy: name, key, cost, id }: CheckRequest) => {
    const found = find(name);
    if (found.kind !== 'policy') return found;
    const { policy } = found;
    return refuseCost(policy, cost) ?? ({ kind: 'check', policy, key, cost, id } as const);
  };

  return {
    policies,
    find,
    async check(request, transport) {
      const started = performance.now();
      const check = request.kind === 'request' ? parse(request) : request;
      if (check.kind === 'bad-request') observer.refused(transport);
      if (check.kind !== 'check') return check;
      observer.arrived();
      const asked = performance.now();
      const [outcome] = await store.decide([check]);
      const ended = performance.now();
      if (outcome === undefined) throw new Error('the store gave no outcome');
      observer.stored((ended - asked) / 1000);
      observer.answered(transport, (ended - started) / 1000);
      if (outcome.kind === 'failure') {
        // The place where a policy's failure mode will decide instead.
        observer.failed(check, outcome);
        return outcome;
      }
      const decision = toDecision(check, outcome.limits);
      observer.decided(decision);
      return decision;
    },
  };
}

/** A cost that every Limit could hold, but that would keep the store busy for too long. */
function refuseCost({ name, limits }: Policy, cost: number): BadRequest | undefined {
  if (limits.some(({ quota }) => cost > quota)) return undefined;
  const limit = limits.find(({ rule }) => cost > rule.maxCost);
  if (limit === undefined) return undefined;
  const { algorithm, rule } = limit;
  const message = `wanted at most ${rule.maxCost} under policy ${name}, since ${algorithm} remembers every unit, got ${cost}`;
  return { kind: 'bad-request', violations: [{ field: 'cost', message }] };
}

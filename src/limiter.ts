import { nearNames } from './diagnostics/near.js';
import type {
  BadRequest,
  Check,
  CheckRequest,
  Decision,
  Failure,
  Limit,
  Policy,
  UnknownPolicy,
} from './domain.js';
import { toDecision } from './policy/decision.js';
import { NO_OUTCOME, type Store } from './store/store.js';

export type Transport = 'rest' | 'grpc';
export type Answer = Decision | Failure | UnknownPolicy | BadRequest;

/** What is counted and logged, once for all transports. */
export interface Observer {
  /** A request that never became a Check. */
  refused(transport: Transport, why: 'bad-request' | 'unknown-policy'): void;
  /** Every check that has arrived is answered, some time. */
  arrived(): void;
  decided(decision: Decision): void;
  failed(check: Check, failure: Failure): void;
  /** How long the store took, and the whole check; in seconds. */
  storeTook(seconds: number): void;
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

  const resolve = ({ policy: name, key, cost, id }: CheckRequest) => {
    const found = find(name);
    if (found.kind !== 'policy') return found;
    const { policy } = found;
    return (
      (cost > 1 ? refuseCost(policy, cost) : undefined) ??
      ({ kind: 'check', policy, key, cost, id } as const)
    );
  };

  return {
    policies,
    find,
    async check(request, transport) {
      const started = performance.now();
      const check = request.kind === 'request' ? resolve(request) : request;
      if (check.kind !== 'check') {
        observer.refused(transport, check.kind);
        return check;
      }
      observer.arrived();
      const asked = performance.now();
      const [outcome] = await store.decide([check]);
      const ended = performance.now();
      observer.storeTook((ended - asked) / 1000);
      observer.answered(transport, (ended - started) / 1000);
      if (outcome?.kind !== 'decided') {
        // The place where a policy's failure mode will decide instead.
        const failure = outcome ?? NO_OUTCOME;
        observer.failed(check, failure);
        return failure;
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
  const heavy = limits.filter(({ decider }) => decider.maxCost !== undefined);
  const [first] = heavy;
  if (first === undefined) return undefined;
  const most = Math.floor(Math.min(...heavy.map(maxCostOf)) / heavy.length);
  if (cost <= most) return undefined;
  const why = `since ${first.algorithm} remembers every unit`;
  const message = `wanted at most ${most} under policy ${name}, ${why}, got ${cost}`;
  return { kind: 'bad-request', violations: [{ field: 'cost', message }] };
}

function maxCostOf({ decider }: Limit): number {
  return decider.maxCost ?? Number.POSITIVE_INFINITY;
}

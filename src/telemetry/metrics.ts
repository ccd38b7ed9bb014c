import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Code, FAILURE_REASONS, type FailureReason, type Policy } from '../domain.js';
import type { Observer, Transport } from '../limiter.js';
import type { Health } from '../store/store.js';
import { createHistogram, type Series } from './histogram.js';

/** Seconds: from 50 microseconds, with an edge at the 20 ms that gateways wait by default. */
const BUCKETS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1,
];

export interface MetricsOptions {
  policies: ReadonlyMap<string, Policy>;
  version: string;
  store: string;
  health(): Health;
  /** Undefined where state is not in this process. */
  memory: { keys(): number; evictions(): number } | undefined;
}

export interface Metrics {
  observer: Observer;
  contentType: string;
  /** Everything, as Prometheus reads it. */
  text(): Promise<string>;
}

/** Counts are plain numbers on the path of a check, and become metrics when somebody looks. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { policies, version, store, health, memory } = options;
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const noCodes = (): Record<Code, number> => ({
    UNKNOWN: 0,
    ALLOWED: 0,
    HIT_QUOTA: 0,
    OVER_QUOTA: 0,
  });
  const counts = new Map(
    [...policies.keys()].map((name) => [name, { codes: noCodes(), peeks: 0, cost: 0 }]),
  );
  const errors = new Map<FailureReason, number>(FAILURE_REASONS.map((reason) => [reason, 0]));
  let inFlight = 0;
  const badRequests: Record<Transport, number> = { rest: 0, grpc: 0 };
  const unknownPolicies: Record<Transport, number> = { rest: 0, grpc: 0 };

  const counter = (name: string, help: string, labelNames: string[], rows: () => Row[]): Counter =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [labels, value] of rows()) this.inc(labels, value);
      },
    });
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const info = (name: string, help: string, labels: Record<string, string>): void =>
    new Gauge({ name, help, labelNames: Object.keys(labels), registers }).set(labels, 1);

  counter(
    'sluice_decisions_total',
    'Checks that cost something, by what became of them; UNKNOWN: no decision could be made.',
    ['policy', 'code'],
    () =>
      [...counts].flatMap(([policy, { codes }]) =>
        Object.entries(codes).map(([code, value]): Row => [{ policy, code }, value]),
      ),
  );
  counter('sluice_peeks_total', 'Checks of cost 0, which charge nothing.', ['policy'], () =>
    [...counts].map(([policy, { peeks }]): Row => [{ policy }, peeks]),
  );
  counter('sluice_charged_cost_total', 'Cost of the allowed checks.', ['policy'], () =>
    [...counts].map(([policy, { cost }]): Row => [{ policy }, cost]),
  );
  counter('sluice_store_errors_total', 'Checks that the store could not decide.', ['reason'], () =>
    [...errors].map(([reason, value]): Row => [{ reason }, value]),
  );
  counter('sluice_bad_requests_total', 'Requests refused as malformed.', ['transport'], () =>
    Object.entries(badRequests).map(([transport, value]): Row => [{ transport }, value]),
  );
  counter(
    'sluice_unknown_policies_total',
    'Requests that named a policy which does not exist.',
    ['transport'],
    () => Object.entries(unknownPolicies).map(([transport, value]): Row => [{ transport }, value]),
  );
  gauge('sluice_store_up', '1 if the store can be reached.', () => (health().up ? 1 : 0));
  gauge('sluice_checks_in_flight', 'Checks that wait for the store.', () => inFlight);
  gauge('sluice_policies', 'Policies in force.', () => policies.size);
  if (memory !== undefined) {
    gauge('sluice_memory_keys', 'State keys in the embedded store.', memory.keys);
    counter(
      'sluice_memory_evictions_total',
      'State keys that had to go for want of room although their state still mattered.',
      [],
      () => [[{}, memory.evictions()]],
    );
  }
  info('sluice_config_info', 'The configuration in force.', { store });
  const { node, tz = 'unknown' } = process.versions;
  info('sluice_build_info', 'What runs here.', { version, node, tzdata: tz });

  const checkSeconds = createHistogram(
    'sluice_check_duration_seconds',
    'From a request that was read to its answer.',
    BUCKETS,
  );
  const answered: Record<Transport, Series> = {
    rest: checkSeconds.series({ transport: 'rest' }),
    grpc: checkSeconds.series({ transport: 'grpc' }),
  };
  const storeSeconds = createHistogram(
    'sluice_store_duration_seconds',
    'From a check to the answer of the store, waiting for its batch included.',
    BUCKETS,
  );

  return {
    contentType: registry.contentType,
    text: async () => (await registry.metrics()) + checkSeconds.text() + storeSeconds.text(),
    observer: {
      refused(transport, why) {
        if (why === 'bad-request') badRequests[transport]++;
        else unknownPolicies[transport]++;
      },
      arrived: () => {
        inFlight++;
      },
      decided({ check, code }) {
        const count = counts.get(check.policy.name);
        if (count === undefined) return;
        if (check.cost === 0) count.peeks++;
        else count.codes[code]++;
        if (code !== 'OVER_QUOTA') count.cost += check.cost;
      },
      failed({ policy, cost }, { reason }) {
        const count = counts.get(policy.name);
        if (count !== undefined && cost > 0) count.codes.UNKNOWN++;
        errors.set(reason, (errors.get(reason) ?? 0) + 1);
      },
      storeTook: storeSeconds.series().observe,
      answered(transport, seconds) {
        inFlight--;
        answered[transport].observe(seconds);
      },
    },
  };
}

type Row = [labels: Record<string, string>, value: number];

import { afterAll, beforeAll, expect, it } from 'vitest';
import { grpcCaller, post, type Service, startService } from './kit/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService({
    yaml: `
policies:
  ten: { limits: [{ algorithm: fixed-period, quota: 10, period: 1h }] }
  a.b: { limits: [{ algorithm: fixed-period, quota: 10, period: 1h }] }
  10.0.0.0/8: { limits: [{ algorithm: sliding-log, quota: 10, period: 1h }] }
`,
  });
});
afterAll(() => service.close());

async function scrape(): Promise<Map<string, number>> {
  const response = await fetch(`${service.admin}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const match = /^([a-z0-9_]+(?:\{[^}]*\})?) (\S+)$/.exec(line);
      if (match === null) throw new Error(`not a metric: ${line}`);
      return [match[1] ?? '', Number(match[2])];
    }),
  );
}

it('C180: everything is there at zero before the first check', async () => {
  const metrics = await scrape();
  for (const code of ['UNKNOWN', 'ALLOWED', 'HIT_QUOTA', 'OVER_QUOTA']) {
    expect(metrics.get(`sluice_decisions_total{policy="ten",code="${code}"}`)).toBe(0);
  }
  expect(metrics.get('sluice_store_errors_total{reason="timeout"}')).toBe(0);
  expect(metrics.get('sluice_memory_evictions_total')).toBe(0);
});

it('C178: what is counted is what was answered', async () => {
  const caller = grpcCaller(service.grpc);
  for (let i = 0; i < 15; i++) await post(service, { policy: 'ten', key: 'k' });
  await caller.call('Check', { policy: 'ten', key: 'k', cost: 20 });
  for (let i = 0; i < 3; i++) await caller.call('Check', { policy: 'ten', key: 'k', cost: 0 });
  await caller.call('Check', { policy: 'ten' });
  caller.close();
  const metrics = await scrape();
  const of = (name: string) => metrics.get(`sluice_${name}`);
  expect(of('decisions_total{policy="ten",code="ALLOWED"}')).toBe(9);
  expect(of('decisions_total{policy="ten",code="HIT_QUOTA"}')).toBe(1);
  expect(of('decisions_total{policy="ten",code="OVER_QUOTA"}')).toBe(6);
  expect(of('peeks_total{policy="ten"}')).toBe(3);
  expect(of('charged_cost_total{policy="ten"}')).toBe(10);
  expect(of('check_duration_seconds_count{transport="rest"}')).toBe(15);
  expect(of('check_duration_seconds_count{transport="grpc"}')).toBe(4);
  expect(of('store_duration_seconds_count')).toBe(19);
  expect(of('bad_requests_total{transport="grpc"}')).toBe(1);
});

it('has latency buckets from 50 microseconds, with an edge at 20 ms', async () => {
  const metrics = await scrape();
  for (const edge of ['0.00005', '0.02']) {
    expect(metrics.has(`sluice_check_duration_seconds_bucket{le="${edge}",transport="rest"}`)).toBe(
      true,
    );
    expect(metrics.has(`sluice_store_duration_seconds_bucket{le="${edge}"}`)).toBe(true);
  }
});

it('C176: keys make no series and stand in no label', async () => {
  const before = await scrape();
  await Promise.all(
    Array.from({ length: 300 }, (_, i) => post(service, { policy: 'a.b', key: `secret-${i}` })),
  );
  const after = await scrape();
  expect(after.size - before.size).toBeLessThanOrEqual(5);
  expect([...after.keys()].join()).not.toContain('secret');
  expect(after.get('sluice_memory_keys')).toBe(301);
});

it('C179: names of policies stand in labels as they are', async () => {
  const metrics = await scrape();
  expect(metrics.has('sluice_decisions_total{policy="10.0.0.0/8",code="ALLOWED"}')).toBe(true);
});

import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startCluster } from '../redis/cluster.js';
import { startRedis } from '../redis/servers.js';
import { closedLoop, grpcClient, type Measured, openLoop, restClient } from './client.js';
import { measureEngines } from './engines.js';
import { type BareRow, type LatencyRow, type Row, writeReport } from './report.js';
import { type StoreName, startOther, startSluice, type Target, type Urls } from './sluice.js';
import { type AlgorithmName, type Counts, prove, type Workload } from './workload.js';
import { type Load, runWrk } from './wrk.js';

/** Seconds of one run; the whole bench has about 250. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
const STORES: StoreName[] = ['memory', 'redis', 'cluster'];
const ALGORITHMS: AlgorithmName[] = ['fixed-period', 'sliding-log'];
const TRANSPORTS = ['REST', 'gRPC'] as const;
type Transport = (typeof TRANSPORTS)[number];

let runs = 0;
const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function toLoad({ perSecond, latencies }: Measured): Load {
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => percentile(latencies, share));
  return { perSecond, p50: p50 ?? 0, p99: p99 ?? 0, p999: p999 ?? 0 };
}

function clientOf(target: Target, transport: Transport, workload: Workload) {
  const run = `run-${runs++}`;
  return transport === 'REST'
    ? restClient(target.rest, workload, run)
    : grpcClient(target.grpc, workload, run);
}

/** Capacity, the proof of the answers, and the processor time of one check. */
async function measure(
  target: Target,
  transport: Transport,
  workload: Workload,
  connections: number,
): Promise<{ load: Load; cpu: number }> {
  const before = await target.counts();
  const cpu = target.cpu();
  const load =
    transport === 'REST'
      ? await runWrk(target.rest, workload, `run-${runs++}`, connections, SECONDS)
      : toLoad(
          await closedLoop(clientOf(target, transport, workload), workload, connections, SECONDS),
        );
  const spent = target.cpu() - cpu;
  const after = await settled(target);
  const counts = {
    openAllowed: after.openAllowed - before.openAllowed,
    openDenied: after.openDenied - before.openDenied,
    gateAllowed: after.gateAllowed - before.gateAllowed,
    gateDenied: after.gateDenied - before.gateDenied,
  };
  prove(counts);
  const checks = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { load, cpu: spent / checks };
}

/** wrk leaves while answers are under way; they belong to the run that asked. */
async function settled(target: Target): Promise<Counts> {
  for (let last = await target.counts(); ; ) {
    await delay(50);
    const now = await target.counts();
    if (JSON.stringify(now) === JSON.stringify(last)) return now;
    last = now;
  }
}

function median<T>(items: T[], measureOf: (item: T) => number): T {
  const item = items.sort((a, b) => measureOf(a) - measureOf(b))[Math.floor(items.length / 2)];
  if (item === undefined) throw new Error('nothing was measured');
  return item;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function meanOf(loads: Load[]): Load {
  const meanBy = (read: (load: Load) => number): number => mean(loads.map(read));
  return {
    perSecond: meanBy(({ perSecond }) => perSecond),
    p50: meanBy(({ p50 }) => p50),
    p99: meanBy(({ p99 }) => p99),
    p999: meanBy(({ p999 }) => p999),
  };
}

async function measureBare(urls: Urls): Promise<BareRow[]> {
  const workload: Workload = { algorithm: 'fixed-period', keys: 10_000, halfDenied: false };
  const rows: BareRow[] = [];
  const [bare, sluice] = [
    await startOther('bare', 'memory', urls),
    await startSluice('memory', urls),
  ];
  for (const transport of TRANSPORTS) {
    for (const connections of [1, 64, 256]) {
      const [ofBare, ofSluice]: Awaited<ReturnType<typeof measure>>[][] = [[], []];
      // The first turn warms both up.
      for (let turn = 0; turn < 6; turn++) {
        const one = await measure(bare, transport, workload, connections);
        const other = await measure(sluice, transport, workload, connections);
        if (turn === 0) continue;
        ofBare?.push(one);
        ofSluice?.push(other);
      }
      const one = median(ofBare ?? [], ({ load }) => load.perSecond);
      const other = median(ofSluice ?? [], ({ load }) => load.perSecond);
      rows.push({
        transport,
        connections,
        bare: one.load,
        bareCpu: median(ofBare ?? [], ({ cpu }) => cpu).cpu,
        sluice: other.load,
        cpu: median(ofSluice ?? [], ({ cpu }) => cpu).cpu,
      });
      say(
        `${transport} ${connections}: ${(other.load.perSecond / one.load.perSecond).toFixed(2)} of bare`,
      );
    }
  }
  bare.stop();
  sluice.stop();
  return rows;
}

async function measureStore(
  store: StoreName,
  urls: Urls,
): Promise<{ rows: Row[]; latency: LatencyRow[] }> {
  const rows: Row[] = [];
  const latency: LatencyRow[] = [];
  const [sluice, peer] = [await startSluice(store, urls), await startOther('peer', store, urls)];
  const warm: Workload = { algorithm: 'fixed-period', keys: 10_000, halfDenied: false };
  await measure(sluice, 'REST', warm, 64);
  await measure(sluice, 'gRPC', warm, 64);
  await measure(peer, 'REST', warm, 64);
  for (const transport of TRANSPORTS) {
    for (const algorithm of ALGORITHMS) {
      for (const keys of [1, 10_000]) {
        for (const halfDenied of [false, true]) {
          for (const connections of [1, 64, 256]) {
            const workload = { algorithm, keys, halfDenied };
            const ask = (target: Target) => measure(target, transport, workload, connections);
            const compared = transport === 'REST' && algorithm === 'fixed-period';
            // In turn and back, so that neither has the better half of the minute.
            const first = await ask(sluice);
            const others = compared ? [await ask(peer), await ask(peer)] : [];
            const ours = compared ? [first, await ask(sluice)] : [first];
            const row: Row = {
              transport,
              store,
              workload,
              connections,
              sluice: meanOf(ours.map(({ load }) => load)),
              cpu: mean(ours.map(({ cpu }) => cpu)),
              ...(compared ? { peer: meanOf(others.map(({ load }) => load)) } : {}),
            };
            rows.push(row);
            const text = [transport, store, algorithm, keys, halfDenied, connections].join(' ');
            say(
              `${text}: ${Math.round(row.sluice.perSecond)}/s, peer ${Math.round(row.peer?.perSecond ?? 0)}/s`,
            );
          }
        }
      }
      const workload = { algorithm, keys: 10_000, halfDenied: false };
      const open = rows.filter(
        (row) => row.transport === transport && row.workload.algorithm === algorithm,
      );
      const capacity = open.find(
        (row) => row.connections === 64 && row.workload.keys === 10_000 && !row.workload.halfDenied,
      );
      for (const share of [0.5, 0.8]) {
        const perSecond = share * (capacity?.sluice.perSecond ?? 0);
        const client = clientOf(sluice, transport, workload);
        const measured = await openLoop(client, workload, 64, perSecond, 2 * SECONDS);
        latency.push({ transport, store, algorithm, share, load: toLoad(measured) });
      }
    }
  }
  sluice.stop();
  peer.stop();
  return { rows, latency };
}

const redis = await startRedis();
const cluster = await startCluster({ primaries: 3, replicas: 3, nodeTimeoutMs: 15_000 });
const urls: Urls = {
  redis: `redis://${redis.host}:${redis.port}`,
  cluster: cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`).join(','),
};
try {
  const engines = await measureEngines({ host: redis.host, port: redis.port });
  for (const row of engines)
    say(
      `${row.engine} ${row.algorithm} ${row.keys} ${row.waiting}: ${Math.round(row.perSecond)}/s`,
    );
  const bare = await measureBare(urls);
  const rows: Row[] = [];
  const latency: LatencyRow[] = [];
  for (const store of STORES) {
    const measured = await measureStore(store, urls);
    rows.push(...measured.rows);
    latency.push(...measured.latency);
  }
  writeFileSync('test/bench/RESULTS.md', writeReport({ engines, rows, bare, latency }, new Date()));
  say('wrote test/bench/RESULTS.md');
} finally {
  await Promise.all([redis.stop(), cluster.stop()]);
}
process.exit(0);

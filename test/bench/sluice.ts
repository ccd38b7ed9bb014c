import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../kit/until.js';
import { type Counts, noCounts, POLICIES } from './workload.js';

/** A server under load, in a process of its own. */
export interface Target {
  rest: number;
  grpc: number;
  /** Everything decided so far. */
  counts(): Promise<Counts>;
  /** Processor time spent so far, user and system, in microseconds. */
  cpu(): number;
  stop(): void;
}

const policyFile = join(mkdtempSync(join(tmpdir(), 'sluice-bench-')), 'policies.yaml');
writeFileSync(policyFile, POLICIES);

export type StoreName = 'memory' | 'redis' | 'cluster';
export type Urls = Record<Exclude<StoreName, 'memory'>, string>;

/** Sluice as it is shipped, on a store. */
export async function startSluice(store: StoreName, urls: Urls): Promise<Target> {
  const redis =
    store === 'memory' ? [] : ['--redis-url', urls[store], '--redis-timeout-ms', '5000'];
  const ports = ['--http-port', '0', '--grpc-port', '0', '--admin-port', '0'];
  const args = ['dist/main.js', 'serve', '--policies', policyFile, '--log-format', 'json'];
  const { lines, pid, stop } = run([...args, ...ports, ...redis]);
  const { rest, grpc, admin } = await until('it listens', () => {
    const line = lines().find((text) => text.includes('"listening"'));
    return line === undefined ? undefined : JSON.parse(line);
  });
  const ready = async (): Promise<boolean> => (await fetch(`${admin}/readyz`)).status === 200;
  await until('it is ready', ready);
  return {
    rest: Number(new URL(rest).port),
    grpc: Number(grpc[0].split(':').at(-1)),
    counts: async () => readCounts(await (await fetch(`${admin}/metrics`)).text()),
    cpu: () => cpuOf(pid),
    stop,
  };
}

function readCounts(metrics: string): Counts {
  const counts = noCounts();
  for (const match of metrics.matchAll(
    /^sluice_decisions_total\{policy="[a-z-]+-(open|gate)",code="(\w+)"\} (\d+)$/gm,
  )) {
    const [, policy, code, value] = match;
    const allowed = code !== 'OVER_QUOTA';
    if (code === 'UNKNOWN' && value !== '0') throw new Error(`${value} checks without a decision`);
    if (policy === 'gate') counts[allowed ? 'gateAllowed' : 'gateDenied'] += Number(value);
    else counts[allowed ? 'openAllowed' : 'openDenied'] += Number(value);
  }
  return counts;
}

/** The peer, or a bare transport: `server.ts` beside this file. */
export async function startOther(kind: string, store: StoreName, urls: Urls): Promise<Target> {
  const url = store === 'memory' ? '' : urls[store];
  const { lines, pid, stop } = run(['--import', 'tsx', 'test/bench/server.ts', kind, store, url]);
  const { rest, grpc } = await until('it listens', () => {
    const line = lines().find((text) => text.startsWith('{'));
    return line === undefined ? undefined : JSON.parse(line);
  });
  return {
    rest,
    grpc,
    counts: async () => JSON.parse(await (await fetch(`http://127.0.0.1:${rest}/counts`)).text()),
    cpu: () => cpuOf(pid),
    stop,
  };
}

function run(args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    lines: () => output.split('\n'),
    pid: child.pid ?? 0,
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}

/** Linux counts in hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import type { EngineRow } from './engines.js';
import type { StoreName } from './sluice.js';
import type { Workload } from './workload.js';
import type { Load } from './wrk.js';

/** One cell of the matrix: Sluice, and what it is measured against in the same minute. */
export interface Row {
  transport: 'REST' | 'gRPC';
  store: StoreName;
  workload: Workload;
  connections: number;
  sluice: Load;
  /** Microseconds of the service's processor time a check. */
  cpu: number;
  peer?: Load;
}

export interface BareRow {
  transport: 'REST' | 'gRPC';
  connections: number;
  bare: Load;
  bareCpu: number;
  sluice: Load;
  cpu: number;
}

export interface LatencyRow {
  transport: 'REST' | 'gRPC';
  store: StoreName;
  algorithm: string;
  share: number;
  load: Load;
}

export interface Results {
  engines: EngineRow[];
  rows: Row[];
  bare: BareRow[];
  latency: LatencyRow[];
}

const n = (value: number): string => Math.round(value).toLocaleString('en');
const us = (value: number): string => {
  if (value < 10) return `${value.toFixed(1)} µs`;
  return value < 1000 ? `${n(value)} µs` : `${(value / 1000).toFixed(1)} ms`;
};
const ratio = (value: number): string => `${value.toFixed(2)}`;

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function version(program: string, ...args: string[]): string {
  try {
    return (
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).split(
        '\n',
      )[0] ?? ''
    );
  } catch (error) {
    // wrk -v prints its version and fails.
    return String(Object(error).stdout ?? error).split('\n')[0] ?? '';
  }
}

export function writeReport({ engines, rows, bare, latency }: Results, date: Date): string {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const peer = devDependencies['rate-limiter-flexible'];
  const packages = ['fastify', '@grpc/grpc-js', 'ioredis'].map(
    (name) => `${name} ${dependencies[name]}`,
  );
  const ratios = ratiosOf(rows);
  const alone = ratiosOf(rows.filter(({ connections }) => connections === 1));
  return `# What was measured

${date.toISOString().slice(0, 10)}, by \`npm run bench\`, which writes this file. ${cpus().length} cores of ${cpus()[0]?.model.trim()}, ${n(totalmem() / 2 ** 30)} GiB,
${type()} ${release()}, Node ${process.version}, ${version('redis-server', '--version').replace(/ sha=.*/, '')}, ${packages.join(', ')}.

Clients, service and Redis share these cores, so absolute numbers are low; compare what stands in one row, which was
measured in one go. REST capacity is by ${version('wrk', '-v').replace(/\[.*/, '')}(one thread, 20,000 prepared requests); gRPC capacity by a client of
our own on node:http2 with four connections, since h2load sends one body alone. Every run proves its own answers by the
service's counters: all open checks allowed, and of a closed key exactly its quota; a wrong one ends the bench.

## What was aimed at

${goals({ engines, rows, bare, latency }).join('\n')}

Where the bare transport is missed, parts of a REST check were taken away (wrk, 64 connections, medians of nine): with nothing but
Sluice's own server around a constant answer it makes 0.98 of the bare one, with reading the request and making an id 0.97, with limiter,
store and answer 0.87. By the profiler these take 3 microseconds of the processor, and 1.3 in a loop of their own. The rest is not theirs: a
bare server that spins for 3 microseconds a request loses 7 on this machine, for 6 it loses 12 and for 10 it loses 20, since a
client that waits more often has to be woken more often. So 10% of the bare server's 30 microseconds are 1.5 of ours.

Where an EVALSHA of an INCR is missed, Redis itself was asked (INFO commandstats, one caller, medians of seven): 1.9 microseconds for that
script, 9.3 for ours. Any script takes 1.3; the JSON of the question 0.9, TIME, GET and SET 2.2, reading and writing the state
1.3, all in a line 6.9. The other 2.4 keep several Limits, several checks, several algorithms and one check's failure apart; that is
paid once a call and not once a check.

## Engines, without a transport

Medians of three runs of a second.

${table(
  ['store', 'algorithm', 'keys', 'waiting', 'checks/s', 'a check'],
  engines.map((row) => [
    row.engine,
    row.algorithm,
    n(row.keys),
    n(row.waiting),
    n(row.perSecond),
    us(row.each),
  ]),
)}

## Against the bare transport

The same servers, schemas and payloads, with nothing behind them, in turn with Sluice in memory (fixed-period, 10,000 keys, medians of
five). CPU is the service's, a check.

${table(
  [
    'transport',
    'connections',
    'bare /s',
    'Sluice /s',
    'Sluice : bare',
    'bare CPU',
    'Sluice CPU',
    'CPU ratio',
  ],
  bare.map((row) => [
    row.transport,
    n(row.connections),
    n(row.bare.perSecond),
    n(row.sluice.perSecond),
    ratio(row.sluice.perSecond / row.bare.perSecond),
    us(row.bareCpu),
    us(row.cpu),
    ratio(row.cpu / row.bareCpu),
  ]),
)}

## Capacity, and the nearest alternative

rate-limiter-flexible ${peer} behind fastify with ioredis, with Sluice's request and response, in the same minute; it has a fixed period only. Each
compared row is Sluice, the alternative twice, Sluice, and the mean of two.
Latencies are at capacity, where they say how long the queue is. Ahead in ${countAhead(ratios)} of ${ratios.length} rows; with one
connection, where no two checks can share a call, between ${ratio(Math.min(...alone))} and ${ratio(Math.max(...alone))} of it.

${table(
  [
    'transport',
    'store',
    'algorithm',
    'keys',
    'denied',
    'connections',
    'checks/s',
    'p50',
    'p99',
    'p99.9',
    'CPU',
    'alternative /s',
    'ratio',
  ],
  rows.map(({ transport, store, workload, connections, sluice, cpu, peer: other }) => [
    transport,
    store,
    workload.algorithm,
    n(workload.keys),
    workload.halfDenied ? 'half' : 'none',
    n(connections),
    n(sluice.perSecond),
    us(sluice.p50),
    us(sluice.p99),
    us(sluice.p999),
    us(cpu),
    other === undefined ? '' : n(other.perSecond),
    other === undefined ? '' : ratio(sluice.perSecond / other.perSecond),
  ]),
)}

## Latency at half and at four fifths of capacity

Questions arrive at a constant rate whatever the answers do, and each is timed from when it was due: no coordinated omission. 10,000
keys, all allowed, 64 connections. The client keeps a core busy to be on time, which on two cores is one of the service's: rows of hundreds
of milliseconds are more than two cores can do beside it.

${table(
  ['transport', 'store', 'algorithm', 'load', 'checks/s', 'p50', 'p99', 'p99.9'],
  latency.map(({ transport, store, algorithm, share, load }) => [
    transport,
    store,
    algorithm,
    `${share * 100}%`,
    n(load.perSecond),
    us(load.p50),
    us(load.p99),
    us(load.p999),
  ]),
)}
`;
}

/** Sluice's rate in that of the alternative, where there is one. */
function ratiosOf(rows: readonly Row[]): number[] {
  return rows.flatMap(({ sluice, peer }) =>
    peer === undefined ? [] : [sluice.perSecond / peer.perSecond],
  );
}

function countAhead(ratios: readonly number[]): number {
  return ratios.filter((one) => one >= 1).length;
}

/** The goals, each with what was measured. */
function goals({ engines, rows, bare }: Results): string[] {
  const best = (engine: string, algorithm: string, waiting: number): number =>
    Math.max(
      ...engines
        .filter(
          (row) => row.engine === engine && row.algorithm === algorithm && row.waiting === waiting,
        )
        .map((row) => row.perSecond),
    );
  const compared = ratiosOf(rows);
  const alone = best('redis, in turn with them', 'fixed-period', 1);
  const [same = 0, incr = 0] = ['the same script', 'an INCR'].map(
    (script) => alone / best(`bare EVALSHA of ${script}`, 'fixed-period', 1),
  );
  const ratios = bare.map((row) => (row.sluice.perSecond / row.bare.perSecond).toFixed(2));
  return [
    `- a million checks a second in memory (fixed-period): ${n(best('memory', 'fixed-period', 1))}`,
    `- 150,000 with 64 waiting on one Redis: ${n(best('redis', 'fixed-period', 64))}`,
    `- one at a time, within 10% of a bare EVALSHA: ${ratio(same)} of one of the same script, ${ratio(incr)} of one that does nothing but INCR`,
    `- within 10% of the bare transport: ${ratios.join(', ')} of it, in the order of the table`,
    `- ahead of the alternative in every row: in ${countAhead(compared)} of ${compared.length}`,
  ];
}

import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import protobuf from 'protobufjs';
import { type Counts, noCounts, question, type Workload } from './workload.js';

/** One connection's way to ask one thing and hear whether it was allowed. */
export type Ask = (i: number) => Promise<boolean>;

/** Opens `connections` ways to ask. Questions are encoded before the run. */
export type Open = (connections: number) => Promise<{ asks: Ask[]; close(): void }>;

const DISTINCT = 20_000;

/** HTTP/1.1 on plain sockets: as little work for this process as there can be. */
export function restClient(port: number, workload: Workload, run: string): Open {
  const requests = Array.from({ length: DISTINCT }, (_, i) => {
    const body = JSON.stringify(question(workload, run, i));
    return Buffer.from(
      `POST /v1/check HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  const openOne = async (): Promise<{ ask: Ask; close(): void }> => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    let text = '';
    let answer: ((allowed: boolean) => void) | undefined;
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => {
      text += data;
      const head = text.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (text.length < head + 4 + length) return;
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(text.slice(0, 300));
      const allowed = text.includes('"allowed":true', head);
      text = '';
      answer?.(allowed);
    });
    return {
      ask: (i) =>
        new Promise((resolve) => {
          answer = resolve;
          socket.write(requests[i % DISTINCT] ?? '');
        }),
      close: () => socket.destroy(),
    };
  };
  return async (connections) => {
    const all = await Promise.all(Array.from({ length: connections }, openOne));
    return { asks: all.map(({ ask }) => ask), close: () => all.map(({ close }) => close()) };
  };
}

const { root } = protobuf.parse(
  'syntax = "proto3"; message Q { string policy = 1; string key = 2; }',
);

/** gRPC's framing on node:http2, four connections with many streams each. */
export function grpcClient(port: number, workload: Workload, run: string): Open {
  const type = root.lookupType('Q');
  const frames = Array.from({ length: DISTINCT }, (_, i) => {
    const message = type.encode(type.create(question(workload, run, i))).finish();
    const frame = Buffer.alloc(5 + message.length);
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, 5);
    return frame;
  });
  const headers = {
    ':method': 'POST',
    ':path': '/sluice.v1.RateLimitService/Check',
    'content-type': 'application/grpc',
    te: 'trailers',
  };
  return async (connections) => {
    const sessions = Array.from({ length: Math.min(4, connections) }, () =>
      connectHttp2(`http://127.0.0.1:${port}`),
    );
    const asks = Array.from({ length: connections }, (_, n): Ask => {
      const session = sessions[n % sessions.length];
      return (i) =>
        new Promise((resolve, reject) => {
          if (session === undefined) return reject(new Error('no session'));
          const stream = session.request(headers);
          let first: Buffer | undefined;
          stream.on('data', (data: Buffer) => {
            first ??= data;
          });
          stream.on('error', reject);
          // Field 1 of the answer is `allowed`: present, as bytes 08 01, if it is true.
          stream.on('end', () =>
            resolve(first !== undefined && first[5] === 0x08 && first[6] === 1),
          );
          stream.end(frames[i % DISTINCT]);
        });
    });
    return { asks, close: () => sessions.map((session) => session.destroy()) };
  };
}

export interface Measured extends Counts {
  perSecond: number;
  /** Microseconds, ascending. */
  latencies: Float64Array;
}

/** Each connection asks again as soon as it has its answer. */
export async function closedLoop(
  open: Open,
  workload: Workload,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const { asks, close } = await open(connections);
  let next = 0;
  const counts = noCounts();
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + seconds * 1000;
  await Promise.all(
    asks.map(async (ask) => {
      for (let now = performance.now(); now < end; ) {
        const i = next++;
        const allowed = await ask(i);
        const answered = performance.now();
        latencies.push((answered - now) * 1000);
        now = answered;
        count(counts, workload, i, allowed);
      }
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  close();
  return {
    ...counts,
    perSecond: latencies.length / elapsed,
    latencies: Float64Array.from(latencies).sort(),
  };
}

/** The first of a run meet connections, keys and code that nobody has used, on both sides. */
const WARM_UP_SECONDS = 1;

/**
 * Questions arrive at a constant rate whatever the answers do, and each is timed from when it should
 * have been asked: a stall is felt by all that it delays, as callers feel it. A second goes before
 * those that are timed.
 */
export async function openLoop(
  open: Open,
  workload: Workload,
  connections: number,
  perSecond: number,
  seconds: number,
): Promise<Measured> {
  const { asks, close } = await open(connections);
  const free = [...asks];
  const due: number[] = [];
  const counts = noCounts();
  const latencies: number[] = [];
  const total = Math.floor(perSecond * (WARM_UP_SECONDS + seconds));
  const started = performance.now();
  const warm = started + WARM_UP_SECONDS * 1000;
  let scheduled = 0;
  let answered = 0;
  let next = 0;
  let dropped = 0;
  await new Promise<void>((resolve, reject) => {
    const dispatch = (): void => {
      while (due.length > next - dropped && free.length > 0) {
        const wanted = due[next - dropped] ?? 0;
        const ask = free.pop();
        if (ask === undefined) return;
        const i = next++;
        ask(i).then((allowed) => {
          if (wanted >= warm) latencies.push((performance.now() - wanted) * 1000);
          count(counts, workload, i, allowed);
          free.push(ask);
          if (++answered === total) resolve();
          else dispatch();
        }, reject);
      }
      if (next - dropped > 10_000) {
        due.splice(0, next - dropped);
        dropped = next;
      }
    };
    const tick = (): void => {
      const now = performance.now();
      for (; scheduled < total; scheduled++) {
        const at = started + (scheduled / perSecond) * 1000;
        if (at > now) break;
        due.push(at);
      }
      dispatch();
      if (scheduled < total) setImmediate(tick);
    };
    tick();
  });
  const elapsed = (performance.now() - started) / 1000;
  close();
  return { ...counts, perSecond: total / elapsed, latencies: Float64Array.from(latencies).sort() };
}

function count(counts: Counts, { halfDenied }: Workload, i: number, allowed: boolean): void {
  const gate = halfDenied && i % 2 === 1;
  if (gate) counts[allowed ? 'gateAllowed' : 'gateDenied']++;
  else counts[allowed ? 'openAllowed' : 'openDenied']++;
}

import { Readable, Writable } from 'node:stream';
import { runReplay } from '../../src/replay/command.js';
import { createMemoryStore } from '../../src/store/memory/memory.js';

/** A log line of a client, at this many seconds after midnight. */
export function logLine(seconds: number, client: string, path = '/'): string {
  const time = new Date(Date.UTC(2015, 4, 17) + seconds * 1000).toISOString().slice(11, 19);
  return `${client} - - [17/May/2015:${time} +0000] "GET ${path} HTTP/1.1" 200 5\n`;
}

/** A stream that collects what is written to it. */
export function collect(options: { isTTY?: boolean } = {}) {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream: Object.assign(stream, options), text: () => chunks.join('') };
}

/** Runs `sluice replay` and returns what it writes. */
export async function run(options: {
  policies: string;
  log: string;
  key?: string;
  json?: boolean;
  stdin?: string | Buffer | Readable;
  isTTY?: boolean;
}): Promise<{ out: string; err: string }> {
  const { policies, log, key = 'client', json = false, stdin = '', isTTY = false } = options;
  const [out, err] = [collect({ isTTY }), collect({ isTTY })];
  await runReplay({
    policies,
    log,
    key,
    json,
    stdin: stdin instanceof Readable ? stdin : Readable.from([Buffer.from(stdin)]),
    out: out.stream,
    err: err.stream,
    createStore: (clock, maxKeys) => createMemoryStore({ clock, maxKeys }),
  });
  return { out: out.text(), err: err.text() };
}

export const POLICIES = `policies:
  login:
    description: two a minute
    limits: [{ algorithm: sliding-log, quota: 2, period: 60s }]
  hour:
    limits: [{ algorithm: fixed-period, quota: 9, period: 1h }]
`;

/** The policy `login` denies two checks of the first client and one of the second. */
export const LOG = [
  ...[0, 1, 2, 3, 90].map((seconds) => logLine(seconds, '10.0.0.1')),
  ...[5, 6, 7].map((seconds) => logLine(seconds, '2001:db8::7')),
];

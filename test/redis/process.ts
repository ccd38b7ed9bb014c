import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { findRedis } from './find.mjs';
import { freePort } from './ports.js';

export const HOST = '127.0.0.1';

/** A redis-server process of our own, in a folder of its own. */
export interface RedisProcess {
  host: string;
  port: number;
  pid(): number;
  /** A connection to ask it things; every test may use it. */
  client: Redis;
  /** Stops it in its tracks: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port, with whatever it had saved. */
  start(): Promise<void>;
  /** Ends it for good and deletes its folder. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  args(port: number, folder: string): readonly string[];
  /** That the arguments make it ask for. */
  password?: string | undefined;
}

/** Starts a server and waits until it answers. */
export async function startProcess(options: ProcessOptions): Promise<RedisProcess> {
  // Somebody else may take the port before the server does.
  for (let tries = 1; ; tries++) {
    try {
      return await startOn(await freePort(), options);
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

async function startOn(port: number, { args, password }: ProcessOptions): Promise<RedisProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  tell(`rm ${folder}`);
  const list = args(port, folder);
  const connect = (): Redis => {
    const client = new Redis({
      port,
      host: HOST,
      retryStrategy: () => 10,
      maxRetriesPerRequest: null,
      ...(password === undefined ? {} : { password }),
    });
    // It may be down because a test wants it so; whoever asks for something gets to know.
    client.on('error', () => {});
    return client;
  };
  let child = await launch(list, connect);
  const client = connect();

  const end = async (): Promise<void> => {
    const { pid } = child;
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    process.kill(pid, 'SIGKILL');
    await ended;
    tell(`-${pid}`);
  };
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    if (child.pid !== undefined) process.kill(child.pid, name);
  };

  return {
    host: HOST,
    port,
    pid: () => child.pid ?? 0,
    client,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    kill: end,
    async start() {
      child = await launch(list, connect);
    },
    async stop() {
      client.disconnect();
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the program and waits until it answers a ping. */
async function launch(args: readonly string[], connect: () => Redis): Promise<ChildProcess> {
  const program = findRedis();
  if (program === undefined) throw new Error('no redis-server or valkey-server found');
  // Of its own group, so that Ctrl-C in a terminal reaches it through its owner only.
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      log = (log + data.toString()).slice(-2000);
    });
  }
  child.once('spawn', () => tell(`+${child.pid}`));
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with code ${code}: ${log}`)));
  });
  // Once it runs, its end is no news.
  failed.catch(() => {});
  const probe = connect();
  try {
    await Promise.race([probe.ping(), failed]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    probe.disconnect();
  }
  return child;
}

let guard: ChildProcess | undefined;

/** Tells the guard, which ends what this process could not end itself. */
function tell(line: string): void {
  if (guard === undefined) {
    const script = fileURLToPath(new URL('./guard.mjs', import.meta.url));
    guard = spawn(process.execPath, [script], { stdio: ['pipe', 'ignore', 2], detached: true });
    guard.unref();
    const pipe = guard.stdin;
    if (pipe !== null && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  }
  guard.stdin?.write(`${line}\n`);
}

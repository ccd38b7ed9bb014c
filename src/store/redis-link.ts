import { type Cluster, Command, Redis, type RedisOptions } from 'ioredis';
import type { RedisSettings } from '../config/settings.js';
import type { Script, ScriptCall } from './script.js';
import type { Health } from './store.js';

/** A reply of the script, or why there is none. */
export type Reply = { reply: unknown } | { error: Error };

/** A connection to Redis of whatever kind. */
export interface Link {
  /** Absent if there is but one node and all keys may share a call. */
  slots?: Slots;
  /** Runs the script on a node. Never rejects. */
  run(call: ScriptCall, node: string): Promise<Reply>;
  /** To be told why a check failed: it may be that the node is no primary any more, or not the one to ask. */
  failed(cause: string): void;
  isUp(): boolean;
  health(): Health;
  close(): Promise<void>;
}

/** Which keys may share a call, those of one slot, and which node has them. */
export interface Slots {
  of(key: string): number;
  nodeOf(slot: number): string;
  /** What `send` writes to the node goes in one piece. */
  together<T>(node: string, send: () => T): T;
}

export interface LinkOptions {
  settings: RedisSettings;
  script: Script;
  /** Told whenever the connection comes or goes, and why. */
  onHealth(health: Health): void;
}

/** A node that is silent for so many time-outs has its connection replaced. */
const SILENT_TIMEOUTS = 4;

/**
 * Nothing is queued while disconnected and nothing is sent twice: a check whose connection breaks
 * may have been charged, and another try could charge it again.
 */
export function commonOptions({ username, password, tls, timeoutMs }: RedisSettings) {
  return {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    socketTimeout: Math.max(1000, SILENT_TIMEOUTS * timeoutMs),
    connectionName: 'sluice',
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  } satisfies RedisOptions;
}

/** Short at first, since every check fails meanwhile; two seconds at most, with jitter. */
export function retryDelay(times: number): number {
  return Math.min(25 * 2 ** Math.min(times, 7), 2000) * (0.75 + Math.random() / 2);
}

/**
 * Keeps the last thing that went wrong, for whoever asks while the connection is away. `tell` is for
 * when it has come: errors and ends are told without. `settle` is for what only other settings mend.
 */
export function watchHealth(
  client: Redis | Cluster,
  { settings, onHealth }: LinkOptions,
  isConnected: () => boolean,
): { isUp(): boolean; health(): Health; tell(): void; settle(error: Error): void } {
  let problem = 'not connected yet';
  let settled = false;
  const isUp = (): boolean => isConnected() && !settled;
  const health = (): Health => {
    const up = isUp();
    return { up, detail: up ? `connected to ${where(settings)}` : problem };
  };
  const tell = (): void => onHealth(health());
  const settle = (error: Error): void => {
    if (settled) return;
    problem = explain(error, settings);
    settled = true;
    tell();
  };
  client.on('ready', () => {
    if (!settled) problem = `lost the connection to ${where(settings)}`;
  });
  client.on('close', tell);
  client.on('error', (error: Error) => {
    // ioredis would go on in database 0.
    if (error.message.includes('DB index')) settle(error);
    if (!settled) problem = explain(error, settings);
    tell();
  });
  return { isUp, health, tell, settle };
}

/** One Redis, or the primary that a group of Sentinels names. */
export function createSingleLink(options: LinkOptions): Link {
  const { settings, script } = options;
  const client = new Redis({
    ...commonOptions(settings),
    ...address(settings),
    db: settings.database,
    retryStrategy: retryDelay,
  });
  const { isUp, health, tell, settle } = watchHealth(
    client,
    options,
    () => client.status === 'ready',
  );
  client.on('ready', tell);

  return {
    run: (call) => runScript(client, script, call),
    failed(cause) {
      if (isDemoted(cause)) client.disconnect(true);
      if (cause.startsWith('MOVED')) settle(new Error(cause));
    },
    isUp,
    health,
    close: async () => client.disconnect(),
  };
}

/** What a node says that is no primary any more. */
export function isDemoted(cause: string): boolean {
  return cause.includes('READONLY');
}

/** One call by the script's hash; by its source where Redis does not know it, since it did not run then. */
export async function runScript(
  client: Redis | Cluster,
  { source, sha }: Script,
  call: ScriptCall,
): Promise<Reply> {
  try {
    return { reply: await send(client, 'evalsha', sha, call) };
  } catch (error) {
    if (!isNoScript(error)) return { error: asError(error) };
  }
  try {
    return { reply: await send(client, 'eval', source, call) };
  } catch (error) {
    return { error: asError(error) };
  }
}

/** As `client.evalsha` does, in half the time; texts of the reply stay bytes. */
function send(
  client: Redis | Cluster,
  name: string,
  script: string,
  { keys, question }: ScriptCall,
): Promise<unknown> {
  const command = new Command(name, [script, String(keys.length), ...keys, question]);
  return Promise.resolve(client.sendCommand(command));
}

function address({ mode, nodes, sentinel, tls }: RedisSettings) {
  if (mode === 'sentinel' && sentinel !== undefined) {
    const { name, password } = sentinel;
    return {
      sentinels: nodes,
      name,
      sentinelRetryStrategy: retryDelay,
      // A Sentinel that takes a connection and says nothing would be waited for without end.
      sentinelCommandTimeout: 500,
      // Without these ioredis speaks plain text, whatever `tls` says.
      ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
      ...(password === undefined ? {} : { sentinelPassword: password }),
    };
  }
  const [node] = nodes;
  if (node === undefined) throw new Error('no address of Redis');
  return node;
}

function where({ mode, nodes, sentinel }: RedisSettings): string {
  const list = nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  if (mode === 'single') return `Redis at ${list}`;
  return mode === 'cluster'
    ? `Redis Cluster at ${list}`
    : `Redis "${sentinel?.name}" of the Sentinels at ${list}`;
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOSCRIPT');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** What a connection error means for the settings, where it means something. */
function explain(error: Error, settings: RedisSettings): string {
  const last = 'lastNodeError' in error ? error.lastNodeError : undefined;
  // The delay until ioredis tries again is of no use, and new each time.
  const text = (last instanceof Error ? last.message : error.message).replace(
    / after [\d.]+ms/,
    '',
  );
  const reason = text.includes('cluster support disabled')
    ? 'it is no Cluster: give one URL and no redis.cluster'
    : text.startsWith('MOVED')
      ? 'it is a node of a Cluster: set redis.cluster'
      : /WRONGPASS|NOAUTH|invalid password|without any password/.test(text)
        ? `it refuses the user name or password (${text})`
        : text;
  return `cannot use ${where(settings)}: ${reason}`;
}

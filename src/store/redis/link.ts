import { type Cluster, Command, Redis, type RedisOptions } from 'ioredis';
import type { RedisSettings } from '../../config/settings.js';
import type { Health } from '../store.js';
import { type HealthOptions, watchHealth } from './health.js';
import type { Script, ScriptCall } from './script.js';

/** A connection to Redis of whatever kind. */
export interface Link {
  /** Absent if there is but one node and all keys may share a call. */
  slots?: Slots;
  /** Runs the script on a node and gives its reply; rejects with what Redis or the connection says. */
  run(call: ScriptCall, node: string): Promise<unknown>;
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
  /** What `write` writes before it first waits for anything goes to the node in one piece. */
  together<T>(node: string, write: () => T): T;
}

export interface LinkOptions extends HealthOptions {
  script: Script;
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
): Promise<unknown> {
  try {
    return await evaluate(client, 'evalsha', sha, call);
  } catch (error) {
    if (!isNoScript(error)) throw error;
  }
  return evaluate(client, 'eval', source, call);
}

/** As `client.evalsha` does, in half the time; texts of the reply stay bytes. */
function evaluate(
  client: Redis | Cluster,
  name: 'eval' | 'evalsha',
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

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOSCRIPT');
}

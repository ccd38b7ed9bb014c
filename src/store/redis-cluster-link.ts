import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';
import {
  asError,
  bringScript,
  commonOptions,
  isNoScript,
  type Link,
  type LinkOptions,
  type Reply,
  retryDelay,
  runScript,
  watchHealth,
} from './redis-link.js';
import type { ScriptCall } from './script.js';

/** Errors that Redis gives before it runs anything; the call may go to the right node then. */
const REDIRECTS = /^(?:MOVED|ASK|TRYAGAIN) |same slots allocation group/;

/** A Redis Cluster. Calls for one node travel in one pipeline. */
export function createClusterLink(options: LinkOptions): Link {
  const { settings, script } = options;
  const cluster = new Cluster(settings.nodes, {
    redisOptions: commonOptions(settings),
    enableOfflineQueue: false,
    maxRedirections: 4,
    // ioredis would send a call again after these delays although its connection broke; 0 is never.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 10,
    slotsRefreshTimeout: 1000,
    // So that a new primary is found although the old one never says a word.
    slotsRefreshInterval: 1000,
    clusterRetryStrategy: retryDelay,
    // With TLS a name is what certificates are checked against.
    ...(settings.tls === undefined ? {} : { dnsLookup: (name, callback) => callback(null, name) }),
  });
  // ioredis connects to a node when it is first asked something, and refuses what comes until then.
  let connected = false;
  const { health, tell } = watchHealth(
    cluster,
    options,
    () => connected && cluster.status === 'ready',
  );
  cluster.on('ready', async () => {
    await Promise.all(cluster.nodes('master').map(connect));
    connected = true;
    tell();
  });
  cluster.on('close', () => {
    connected = false;
  });

  const runAll = async (calls: readonly ScriptCall[]): Promise<Reply[]> => {
    const pipeline = cluster.pipeline();
    for (const { keys, args } of calls) {
      pipeline.evalsha(script.sha, keys.length, ...keys, ...args);
    }
    try {
      const results = (await pipeline.exec()) ?? [];
      return results.map(([error, reply]) => (error === null ? { reply } : { error }));
    } catch (error) {
      return calls.map(() => ({ error: asError(error) }));
    }
  };

  return {
    route(key) {
      const group = calculateSlot(key);
      return { node: cluster.slots[group]?.[0] ?? '', group };
    },
    async run(calls) {
      const replies = await runAll(calls);
      return Promise.all(
        replies.map((reply, i) => {
          const call = calls[i];
          if ('reply' in reply || call === undefined) return reply;
          if (isNoScript(reply.error)) return bringScript(cluster, script, call);
          // By itself a call follows redirects.
          return REDIRECTS.test(reply.error.message) ? runScript(cluster, script, call) : reply;
        }),
      );
    },
    demoted: () => cluster.refreshSlotsCache(),
    health,
    close: async () => cluster.disconnect(),
  };
}

/** Resolves when the node is connected, or gone. */
function connect(node: Redis): Promise<void> {
  if (node.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => {
    node.once('ready', resolve).once('end', resolve);
    if (node.status === 'wait') node.connect().catch(() => {});
  });
}

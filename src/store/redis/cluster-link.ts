import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';
import { watchHealth } from './health.js';
import {
  commonOptions,
  isDemoted,
  type Link,
  type LinkOptions,
  retryDelay,
  runScript,
} from './link.js';

/** What Redis says before it runs anything; the call may go to the right node then. */
const REDIRECT = /^(?:MOVED|ASK|TRYAGAIN) /;

/** A Redis Cluster. */
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
  const { isUp, health, tell } = watchHealth(
    cluster,
    options,
    () => connected && cluster.status === 'ready',
  );
  cluster.on('ready', async () => {
    // Replicas too, so that they can take over at once, but nobody waits for them.
    cluster.nodes('slave').forEach(connect);
    await Promise.all(cluster.nodes('master').map(connect));
    connected = true;
    tell();
  });
  cluster.on('+node', (node: Redis) => {
    if (connected) connect(node);
  });
  cluster.on('close', () => {
    connected = false;
  });

  const known = new Map<string, Redis>();
  /** The connection to a primary, if it is there; on one to a replica the script would run on old state. */
  const connectionTo = (node: string): Redis | undefined => {
    const last = known.get(node);
    if (last !== undefined && isPrimary(last)) return last;
    const found = cluster
      .nodes()
      .find((one) => isPrimary(one) && `${one.options.host}:${one.options.port}` === node);
    if (found === undefined) known.delete(node);
    else known.set(node, found);
    return found;
  };

  return {
    slots: {
      of: calculateSlot,
      nodeOf: (slot) => cluster.slots[slot]?.[0] ?? '',
      together(node, write) {
        const stream = connectionTo(node)?.stream;
        stream?.cork();
        try {
          return write();
        } finally {
          stream?.uncork();
        }
      },
    },
    async run(call, node) {
      try {
        // Straight to the node: the Cluster would work out the slot once more.
        return await runScript(connectionTo(node) ?? cluster, script, call);
      } catch (error) {
        // Through the Cluster a call follows redirects.
        if (isRedirect(error)) return runScript(cluster, script, call);
        throw error;
      }
    },
    failed(cause) {
      if (isDemoted(cause)) cluster.refreshSlotsCache();
    },
    isUp,
    health,
    close: async () => cluster.disconnect(),
  };
}

function isRedirect(error: unknown): boolean {
  return error instanceof Error && REDIRECT.test(error.message);
}

/** ioredis says READONLY on a connection once it learns that a replica is behind it. */
function isPrimary({ status, options }: Redis): boolean {
  return status === 'ready' && options.readOnly !== true;
}

/** Resolves when the node is connected, or gone. */
function connect(node: Redis): Promise<void> {
  if (node.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => {
    node.once('ready', resolve).once('end', resolve);
    if (node.status === 'wait') node.connect().catch(() => {});
  });
}

import { inject } from 'vitest';
import type { RedisSettings } from '../../src/config/settings.js';
import type { Script } from '../../src/store/redis/script.js';
import type { Store } from '../../src/store/store.js';
import { createUnsweptMemoryStore } from './memory.js';
import { openRedisStore } from './ready.js';
import { redisSettings } from './redis-settings.js';
import { type RedisView, viewRedis } from './redis-view.js';

/** The stores that must give the same answers. */
export const STORES = ['memory', 'redis', 'cluster'] as const;
export type StoreKind = (typeof STORES)[number];

/** State that is outlived by so much is not lost while a test stands still or goes back in time. */
const GRACE_MS = 3_600_000;

/** One state, and as many stores on it as there would be processes of the service. */
export interface Backend {
  kind: StoreKind;
  /** A store that decides by this clock. In memory there is one process only, and so one store. */
  open(clock: () => number, options?: { graceMs?: number; script?: Script }): Promise<Store>;
  /** A store for a script that finds out the time by itself; the clock is the service's alone. */
  openWithServerClock(clock: () => number, script: Script): Promise<Store>;
  /** Absent in memory. */
  view: RedisView | undefined;
  close(): Promise<void>;
}

/** Empty, and nobody else's. */
export function createBackend(kind: StoreKind): Backend {
  return kind === 'memory' ? memoryBackend() : redisBackend(kind);
}

function memoryBackend(): Backend {
  let store: Store | undefined;
  return {
    kind: 'memory',
    view: undefined,
    async open(clock) {
      store ??= createUnsweptMemoryStore(clock);
      return store;
    },
    openWithServerClock: () => Promise.reject(new Error('memory has no server')),
    close: async () => store?.close(),
  };
}

function redisBackend(kind: 'redis' | 'cluster'): Backend {
  const settings = settingsOf(kind);
  const stores: Store[] = [];
  const keep = async (opening: Promise<Store>): Promise<Store> => {
    const store = await opening;
    stores.push(store);
    return store;
  };
  const view = viewRedis(settings);
  return {
    kind,
    view,
    open: (clock, { graceMs = GRACE_MS, ...options } = {}) =>
      keep(openRedisStore({ settings, clock, serverClock: false, graceMs, ...options })),
    openWithServerClock: (clock, script) =>
      keep(openRedisStore({ settings, clock, graceMs: GRACE_MS, script })),
    async close() {
      view.close();
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

function settingsOf(kind: 'redis' | 'cluster'): RedisSettings {
  return kind === 'redis'
    ? redisSettings({ nodes: [inject('redis')] })
    : redisSettings({ mode: 'cluster', nodes: [...inject('redisCluster')] });
}

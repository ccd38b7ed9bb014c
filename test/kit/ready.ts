import { createRedisStore, type RedisStoreOptions } from '../../src/store/redis/redis.js';
import type { Store } from '../../src/store/store.js';

/** A store on Redis that has connected. */
export function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  return new Promise((resolve, reject) => {
    const store = createRedisStore({
      ...options,
      onHealth(health) {
        options.onHealth?.(health);
        // What comes after the first word settles nothing any more.
        if (health.up) resolve(store);
        else reject(new Error(health.detail));
      },
    });
  });
}

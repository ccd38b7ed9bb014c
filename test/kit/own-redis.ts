import { createSystemClock } from '../../src/clock.js';
import type { RedisSettings } from '../../src/config/settings.js';
import type { RedisStoreOptions } from '../../src/store/redis/redis.js';
import type { Store } from '../../src/store/store.js';
import type { Address } from '../redis/servers.js';
import { openRedisStore } from './ready.js';
import { redisSettings } from './redis-settings.js';

/** A store as the service has it: by the clock of Redis, without grace. */
export function openServiceStore(
  address: Address,
  settings: Partial<RedisSettings> = {},
  options: Partial<RedisStoreOptions> = {},
): Promise<Store> {
  const { host, port } = address;
  return openRedisStore({
    settings: redisSettings({ nodes: [{ host, port }], ...settings }),
    clock: createSystemClock(),
    ...options,
  });
}

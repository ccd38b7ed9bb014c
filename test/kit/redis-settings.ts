import { randomBytes } from 'node:crypto';
import type { RedisSettings } from '../../src/config/settings.js';

/** So that test files which run at the same time do not meet in the Redis that they share. */
export function randomPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/** Patient, so that a busy machine fails no test that is not about waiting. */
export function redisSettings(
  settings: Pick<RedisSettings, 'nodes'> & Partial<RedisSettings>,
): RedisSettings {
  return { mode: 'single', database: 0, prefix: randomPrefix(), timeoutMs: 10_000, ...settings };
}

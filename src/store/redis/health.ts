import type { Cluster, Redis } from 'ioredis';
import type { RedisSettings } from '../../config/settings.js';
import type { Health } from '../store.js';

export interface HealthOptions {
  settings: RedisSettings;
  /** Told whenever the connection comes or goes, and why. */
  onHealth(health: Health): void;
}

/**
 * Keeps the last thing that went wrong, for whoever asks while the connection is away. `tell` is for
 * when it has come: errors and ends are told without. `settle` is for what only other settings mend.
 */
export function watchHealth(
  client: Redis | Cluster,
  { settings, onHealth }: HealthOptions,
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

function where({ mode, nodes, sentinel }: RedisSettings): string {
  const list = nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  if (mode === 'single') return `Redis at ${list}`;
  return mode === 'cluster'
    ? `Redis Cluster at ${list}`
    : `Redis "${sentinel?.name}" of the Sentinels at ${list}`;
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

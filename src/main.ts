#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HELP, parseCommandLine } from './cli/command-line.js';
import { greeting } from './cli/greeting.js';
import { type Clock, createSystemClock } from './clock.js';
import { loadSettings, type Settings, settingOf } from './config/settings.js';
import { messageOf } from './diagnostics/issues.js';
import { ConfigError } from './diagnostics/mistakes.js';
import { createLimiter } from './limiter.js';
import { loadPolicies } from './policy/file.js';
import { runReplay } from './replay/command.js';
import { createMemoryStore } from './store/memory/memory.js';
import { createRedisStore } from './store/redis/redis.js';
import type { Health } from './store/store.js';
import { createFailureLog, createLogger, type Logger } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';
import { serveAdmin } from './transport/admin/server.js';
import { serveGrpc } from './transport/grpc/sluice.js';
import { SocketError } from './transport/grpc/socket.js';
import { serveRest } from './transport/http/sluice.js';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

async function run(args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args);
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP);
      return;
    case 'version':
      process.stdout.write(`${version}\n`);
      return;
    case 'validate': {
      const policies = loadPolicies(command.path);
      const names = [...policies.keys()].join(', ');
      process.stdout.write(`${command.path}: ${policies.size} policies, no mistakes: ${names}\n`);
      return;
    }
    case 'replay':
      return runReplay({
        ...command,
        out: process.stdout,
        err: process.stderr,
        createStore: (clock, maxKeys) => createMemoryStore({ clock, maxKeys }),
      });
    case 'serve':
      return untilSignal(() => serve(loadSettings(command.flags)));
  }
}

/** Starts everything, and returns what ends it in good order. */
async function serve(settings: Settings): Promise<(signal: string) => Promise<void>> {
  const policies = loadPolicies(policiesPath(settings));
  const log = createLogger(settings.log);
  const { store, memory, wasReached } = createStore(settings, createSystemClock(), log);
  const metrics = createMetrics({
    policies,
    version,
    store: settings.store.kind,
    health: store.health,
    memory,
  });
  const logFailure = createFailureLog(log, settings.log.keys);
  const limiter = createLimiter(policies, store, {
    ...metrics.observer,
    failed(check, failure) {
      metrics.observer.failed(check, failure);
      logFailure(check, failure);
    },
  });
  const onError = (error: unknown): void => log.error({ err: error }, 'a fault of Sluice');

  let listening = false;
  let draining = false;
  const admin = await listen(
    'admin',
    settings.admin,
    serveAdmin({
      ...settings.admin,
      metrics,
      readiness() {
        const { up, detail } = store.health();
        // Once reached, a store that goes away makes single checks fail and not the whole instance.
        const reached = wasReached();
        return [
          { name: 'listening', met: listening, detail: listening ? 'REST and gRPC' : 'not yet' },
          { name: 'store', met: reached, detail: up || !reached ? detail : `away now: ${detail}` },
          { name: 'not shutting down', met: !draining, detail: draining ? 'it is' : 'yes' },
        ];
      },
    }),
  );
  const grpc = await listen(
    'grpc',
    settings.grpc,
    serveGrpc({
      ...settings.grpc,
      limiter,
      onError,
    }),
  );
  const rest = await listen(
    'http',
    settings.http,
    serveRest({
      ...settings.http,
      limiter,
      version,
      onRefused: () => metrics.observer.refused('rest', 'bad-request'),
      onError,
    }),
  );
  listening = true;
  const addresses = { rest: rest.address, grpc: grpc.addresses, admin: admin.address };
  log.info({ version, ...addresses, policies: policies.size }, 'listening');
  if (settings.log.format !== 'json') process.stderr.write(greeting(addresses, limiter.policies));

  return async (signal) => {
    const { delayMs, graceMs } = settings.shutdown;
    log.info({ signal, delayMs, graceMs }, 'shutting down');
    draining = true;
    grpc.drain();
    await delay(delayMs);
    await Promise.race([Promise.all([rest.close(), grpc.close(graceMs)]), delay(graceMs)]);
    await store.close();
    await admin.close();
    log.info('stopped');
  };
}

/** Where the policies are; or, where nobody has said so and there are none, what to do. */
function policiesPath({ policies }: Settings): string {
  const { flag, variable, fallback } = settingOf(['policies']);
  if (policies !== fallback || existsSync(policies)) return policies;
  const examples = fileURLToPath(new URL('../config/policies', import.meta.url));
  const hint = `name your policies with --${flag} or ${variable}; examples are in ${examples}`;
  const message = `no such file or folder; ${hint}`;
  throw new ConfigError([{ where: policies, path: '', message }]);
}

/** Waits for a server to listen, or says which setting to change. */
async function listen<T>(
  group: 'http' | 'grpc' | 'admin',
  { host, port }: { host: string; port: number },
  server: Promise<T>,
): Promise<T> {
  try {
    return await server;
  } catch (error) {
    const socket = error instanceof SocketError;
    const names = socket ? ['socket'] : ['port', 'host'];
    const settings = names.map((name) => settingOf([group, name]));
    const hint = settings.map(({ flag, variable }) => `--${flag} or ${variable}`).join(', ');
    const where = socket ? 'socket ' : `${host}:${port}: `;
    const message = `cannot listen on ${where}${messageOf(error)}; choose another with ${hint}`;
    throw new ConfigError([{ where: group, path: '', message }]);
  }
}

function createStore({ store, memory }: Settings, clock: Clock, log: Logger) {
  if (store.kind === 'memory') {
    const embedded = createMemoryStore({ clock, maxKeys: memory.maxKeys });
    return { store: embedded, memory: embedded, wasReached: () => true };
  }
  let last = '';
  let reached = false;
  const onHealth = ({ up, detail }: Health): void => {
    reached ||= up;
    if (detail === last) return;
    last = detail;
    if (up) log.info(`store: ${detail}`);
    else log.warn(`store: ${detail}`);
  };
  const redis = createRedisStore({ settings: store.redis, clock, onHealth });
  return { store: redis, memory: undefined, wasReached: () => reached };
}

/** npm passes on the Ctrl-C that the terminal has sent to all of them. */
const SAME_SIGNAL_MS = 250;

/**
 * The first signal ends the service in good order, also while it starts; the second at once. As
 * process 1 of a container, node ignores signals that nobody listens for.
 */
async function untilSignal(start: () => Promise<(signal: string) => Promise<void>>): Promise<void> {
  let started: ReturnType<typeof start> | undefined;
  let stopping = false;
  let first = 0;
  const onSignal = (signal: string): void => {
    if (stopping) {
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stopping = true;
    first = performance.now();
    Promise.resolve(started)
      .then((stop) => stop?.(signal))
      .then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  started = start();
  await started;
}

/** Mistakes of the operator are told in lines; faults of ours with their stack. */
function fail(error: unknown): never {
  const plain = error instanceof ConfigError || !(error instanceof Error);
  const text = plain ? messageOf(error) : error.stack;
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

// Whoever has read our output may be gone; that is no reason to stop working.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
run(process.argv.slice(2)).catch(fail);

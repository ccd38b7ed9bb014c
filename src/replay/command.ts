import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { ConfigError } from '../diagnostics/mistakes.js';
import type { Policy } from '../domain.js';
import { loadPolicies } from '../policy/file.js';
import type { Entries } from './entries.js';
import { type KeyOf, parseKey } from './key.js';
import { openLog } from './log-file.js';
import { type PolicyReport, printJson, printReports } from './print.js';
import { createProgress, type Progress } from './progress.js';
import { type LogEntries, readLog } from './read-log.js';
import { type CreateStore, replay } from './replay.js';

/** A shorter log is read before anyone would look at a progress bar. */
const LONG_LOG_BYTES = 4 * 1024 * 1024;

export interface ReplayCommand {
  /** A policy file or folder. */
  policies: string;
  /** Fields of the log, separated by commas, or `=text`. */
  key: string;
  /** A file, or `-` for `stdin`. */
  log: string;
  json: boolean;
  createStore: CreateStore;
  stdin?: Readable;
  out: Writable;
  err: Writable;
}

/**
 * Runs `sluice replay`: writes to `out` what the policies would have decided on an access log. Throws
 * a ConfigError if the key, the policies or the log cannot be used.
 */
export async function runReplay(command: ReplayCommand): Promise<void> {
  const { createStore, stdin = process.stdin, out, err, json } = command;
  const keyOf = parseKey(command.key);
  const policies = [...loadPolicies(command.policies).values()];
  const log = await openLog(command.log, stdin);
  const bytes = log.bytes ?? 0;
  const progress = createProgress(err, bytes > LONG_LOG_BYTES);
  try {
    const onBytes = (done: number): void => progress.show('reading ', done, bytes);
    const { entries, skipped } = await readEntries(command.log, log.chunks, keyOf, onBytes);
    const reports = await replayAll(policies, entries, createStore, progress);
    progress.clear();
    await write(out, (json ? printJson : printReports)(reports, skipped));
  } finally {
    progress.clear();
  }
}

/** Reads the entries of a log. Throws a ConfigError if it has lines, but not one that is usable. */
async function readEntries(
  name: string,
  chunks: AsyncIterable<Buffer>,
  keyOf: KeyOf,
  onBytes: (done: number) => void,
): Promise<LogEntries> {
  const log = await readLog({ chunks, keyOf, onBytes });
  if (log.entries.count > 0 || log.skipped.count === 0) return log;
  const wanted = 'wanted lines of an access log in common or combined format';
  const message = `${wanted}, got none in ${log.skipped.count} lines`;
  throw new ConfigError([{ where: name, path: '', message }]);
}

async function replayAll(
  policies: readonly Policy[],
  entries: Entries,
  createStore: CreateStore,
  progress: Progress,
): Promise<PolicyReport[]> {
  const reports: PolicyReport[] = [];
  const total = policies.length * entries.count;
  for (const policy of policies) {
    const before = reports.length * entries.count;
    const report = await replay(policy, entries, {
      createStore,
      async pause(done) {
        progress.show('deciding', before + done, total);
        // Signals and the sweep of the store are handled only between two turns of the event loop.
        await setImmediate();
      },
    });
    reports.push({ policy, report });
  }
  return reports;
}

/**
 * Resolves when the text is written, so that the process may exit, or when the reader of `out` is
 * gone. Rejects on any other error.
 */
function write(out: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => {
      if (error == null || ('code' in error && error.code === 'EPIPE')) resolve();
      else reject(error);
    };
    // An error is also emitted as an event, which would end the process if nobody listened.
    out.once('error', done);
    out.write(text, done);
  });
}

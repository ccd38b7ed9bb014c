import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { ConfigError } from '../diagnostics/mistakes.js';
import { loadPolicies } from '../policy/file.js';
import { parseKey } from './key.js';
import { openLog } from './log-file.js';
import { type PolicyReport, printJson, printReports } from './print.js';
import { createProgress } from './progress.js';
import { readLog } from './read-log.js';
import { type CreateStore, replay } from './replay.js';

/** A shorter log is done before anyone would look at a bar. */
const LONG_LOG_BYTES = 4 * 1024 * 1024;

/** `sluice replay`: what the policies would have decided on an access log. */
export async function runReplay(options: {
  /** A file or a folder. */
  policies: string;
  /** Fields of the log with commas between, or `=text`. */
  key: string;
  /** A file, or `-` for `stdin`. */
  log: string;
  json: boolean;
  createStore: CreateStore;
  stdin?: Readable;
  out: Writable;
  err: Writable;
}): Promise<void> {
  const { createStore, stdin = process.stdin, out } = options;
  const keyOf = parseKey(options.key);
  const policies = [...loadPolicies(options.policies).values()];
  const log = await openLog(options.log, stdin);
  const bytes = log.bytes ?? 0;
  const progress = createProgress(options.err, bytes > LONG_LOG_BYTES);
  try {
    const { entries, skipped } = await readLog({
      chunks: log.chunks,
      keyOf,
      onBytes: (done) => progress.show('reading ', done, bytes),
    });
    if (entries.count === 0 && skipped.count > 0) {
      const message = `wanted lines of an access log in common or combined format, got none in ${skipped.count} lines`;
      throw new ConfigError([{ where: options.log, path: '', message }]);
    }
    const reports: PolicyReport[] = [];
    for (const policy of policies) {
      const before = reports.length * entries.count;
      const report = await replay(policy, entries, {
        createStore,
        async pause(done) {
          progress.show('deciding', before + done, policies.length * entries.count);
          // Signals are heard and the store sweeps only between two turns of the event loop.
          await setImmediate();
        },
      });
      reports.push({ policy, report });
    }
    progress.clear();
    await write(out, (options.json ? printJson : printReports)(reports, skipped));
  } finally {
    progress.clear();
  }
}

/** Resolves when the text is out, so that the process may end; or when nobody reads any more. */
function write(out: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => {
      if (error == null || ('code' in error && error.code === 'EPIPE')) resolve();
      else reject(error);
    };
    // A stream throws the error that it emits too, unless somebody listens.
    out.once('error', done);
    out.write(text, done);
  });
}

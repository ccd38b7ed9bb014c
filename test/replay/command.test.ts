import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { ConfigError } from '../../src/diagnostics/mistakes.js';
import { runReplay } from '../../src/replay/command.js';
import { createMemoryStore } from '../../src/store/memory/memory.js';
import { tempFile } from '../kit/files.js';
import { collect, LOG, logLine, POLICIES, run } from './run.js';

const policies = () => tempFile('policies.yaml', POLICIES);

test('a log out of order gives the same output as the same log in order', async () => {
  const options = { policies: policies(), json: true };
  const inOrder = Array.from({ length: 50 }, (_, i) => logLine(i * 7, `10.0.0.${i % 3}`));
  const reversed = tempFile('access.log', inOrder.toReversed().join(''));
  const log = tempFile('access.log', inOrder.join(''));
  const { out } = await run({ ...options, log });
  expect(out).toContain('"checks":50,"allowed":35,"denied":15');
  expect(await run({ ...options, log: reversed })).toEqual({ out, err: '' });
});

test('a log from standard input may have a byte order mark and no line end at its end', async () => {
  const stdin = `\uFEFF${LOG.join('').replaceAll('\n', '\r\n').trimEnd()}`;
  const { out } = await run({ policies: policies(), log: '-', stdin, json: true });
  expect(out).toContain('"skippedLines":0');
  expect(out).toContain('"checks":8');
  expect(out).toContain('"keys":2');
});

test('unusable lines are counted, and the first five numbers are printed', async () => {
  const lines = [LOG[0], 'a\n', LOG[1], ...'bcdefg'.split('').map((text) => `${text}\n`)];
  const { out } = await run({ policies: policies(), log: '-', stdin: lines.join('') });
  expect(out).toContain('  checks      2\n');
  expect(out).toContain('skipped 7 lines (numbers 2, 4, 5, 6, 7, ...): not in the common');
});

test('a log without a usable line is an error, and an empty log has no checks', async () => {
  await expect(run({ policies: policies(), log: '-', stdin: 'x\n'.repeat(3) })).rejects.toThrow(
    '-: wanted lines of an access log in common or combined format, got none in 3 lines',
  );
  const empty = await run({ policies: policies(), log: '-', stdin: '' });
  expect(empty.out).toContain('  checks      0\n  allowed     0\n  denied      0\n');
  expect(empty.out).not.toContain('timeline');
  expect(empty.out).not.toContain('skipped');
});

test('a line is skipped if a check may not have its key', async () => {
  const paths = [`/${'a'.repeat(1023)}`, `/${'a'.repeat(1024)}`, '?only=query', '/\xE9', '/b'];
  const stdin = Buffer.from(paths.map((path) => logLine(0, '::1', path)).join(''), 'latin1');
  const options = { policies: policies(), log: '-', stdin, key: 'path' };
  expect((await run(options)).out).toContain('skipped 3 lines (numbers 2, 3, 4)');
  expect((await run({ ...options, key: 'client' })).out).not.toContain('skipped');
});

test('a file longer than 4 MB has a progress bar on a terminal, which is removed at the end', async () => {
  const lines = Array.from({ length: 70_000 }, (_, i) => logLine(i, `10.0.0.${i % 250}`));
  const log = tempFile('access.log', lines.join(''));
  const onTerminal = await run({ policies: policies(), log, isTTY: true });
  expect(onTerminal.err).toContain('\rreading  ███████████████░░░░░░░░░░░░░░░  ');
  expect(onTerminal.err).toContain('\rdeciding ███████████████░░░░░░░░░░░░░░░  ');
  expect(onTerminal.err).toMatch(/\r {44}\r$/);
  expect(onTerminal.out).not.toContain('\r');
  const piped = await run({ policies: policies(), log });
  expect(piped).toEqual({ out: onTerminal.out, err: '' });
  const short = await run({
    policies: policies(),
    log: tempFile('a.log', LOG.join('')),
    isTTY: true,
  });
  expect(short.err).toBe('');
});

test('a file that cannot be read is reported with its name', async () => {
  const log = tempFile('access.log', '');
  const missing = join(dirname(log), 'missing.log');
  const mistake = async (options: { policies: string; log: string; key?: string }) => {
    const error: unknown = await run(options).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    return String(error);
  };
  expect(await mistake({ policies: policies(), log: missing })).toContain(
    `${missing}: cannot read the log: ENOENT`,
  );
  expect(await mistake({ policies: policies(), log: dirname(log) })).toContain(
    'cannot read the log: wanted a file, got a folder',
  );
  expect(await mistake({ policies: missing, log })).toContain('cannot read policies: ENOENT');
  expect(await mistake({ policies: policies(), log, key: 'ip' })).toContain(
    '--key: unknown field "ip"; wanted a comma-separated list of client, method, path,',
  );
});

test('a read error in the middle of a log fails the replay', async () => {
  async function* broken() {
    yield Buffer.from(LOG.join(''));
    throw new Error('EIO: i/o error, read');
  }
  const replayed = run({ policies: policies(), log: '-', stdin: Readable.from(broken()) });
  await expect(replayed).rejects.toThrow(
    'standard input: cannot read the log: EIO: i/o error, read',
  );
});

test('a closed output pipe ends the replay without an error, and a full disk is an error', async () => {
  const replayTo = (code: string) => {
    const failure = Object.assign(new Error(`${code}: write`), { code });
    return runReplay({
      policies: policies(),
      key: 'client',
      log: tempFile('access.log', LOG.join('')),
      json: false,
      out: new Writable({ write: (_chunk, _encoding, done) => done(failure) }),
      err: collect().stream,
      createStore: (clock, maxKeys) => createMemoryStore({ clock, maxKeys }),
    });
  };
  await expect(replayTo('EPIPE')).resolves.toBeUndefined();
  await expect(replayTo('ENOSPC')).rejects.toThrow('ENOSPC: write');
});

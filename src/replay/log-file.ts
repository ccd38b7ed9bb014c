import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { messageOf } from '../diagnostics/issues.js';
import { ConfigError } from '../diagnostics/mistakes.js';

export interface Log {
  /** The size of the file. Undefined for a pipe, whose size is unknown. */
  bytes: number | undefined;
  chunks: AsyncIterable<Buffer>;
}

const CHUNK_BYTES = 256 * 1024;

/** Opens a log file, or `stdin` if the name is `-`. Throws a ConfigError if it cannot be read. */
export async function openLog(name: string, stdin: Readable): Promise<Log> {
  if (name === '-') return { bytes: undefined, chunks: chunksOf('standard input', stdin) };
  try {
    const file = await open(name);
    const stat = await file.stat();
    if (stat.isDirectory()) {
      await file.close();
      throw new Error('wanted a file, got a folder');
    }
    const stream = file.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { bytes: stat.isFile() ? stat.size : undefined, chunks: chunksOf(name, stream) };
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function* chunksOf(name: string, stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const data of stream) {
      const chunk: unknown = data;
      yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): ConfigError {
  const message = `cannot read the log: ${messageOf(error)}`;
  return new ConfigError([{ where: name, path: '', message }]);
}

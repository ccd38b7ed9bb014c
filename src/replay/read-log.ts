import { parseAccessLine } from './access-log.js';
import { createEntryList, type Entries } from './entries.js';
import { isKey, type KeyOf } from './key.js';
import { createLineSplitter } from './lines.js';

/** Lines that are not log lines, or whose key a Check may not have. */
export interface Skipped {
  count: number;
  /** The line numbers of the first few, counted from 1. */
  first: number[];
}

const MAX_SHOWN = 5;

export interface LogEntries {
  entries: Entries;
  skipped: Skipped;
}

/** Reads a log to its end. `onBytes` is called with the number of bytes read so far. */
export async function readLog(options: {
  chunks: AsyncIterable<Buffer>;
  keyOf: KeyOf;
  onBytes: (done: number) => void;
}): Promise<LogEntries> {
  const { chunks, keyOf, onBytes } = options;
  const list = createEntryList();
  const skipped: Skipped = { count: 0, first: [] };
  const splitter = createLineSplitter();
  let number = 0;

  const take = (rawText: string | undefined): void => {
    number++;
    // A byte order mark would become an invisible part of the first client.
    const text = number === 1 ? rawText?.replace(/^\uFEFF/, '') : rawText;
    const line = text === undefined ? undefined : parseAccessLine(text);
    const key = line === undefined ? '' : keyOf(line);
    if (line !== undefined && isKey(key)) {
      list.add(line.time, key);
      return;
    }
    skipped.count++;
    if (skipped.first.length < MAX_SHOWN) skipped.first.push(number);
  };

  let bytes = 0;
  for await (const chunk of chunks) {
    for (const line of splitter.push(chunk)) take(line);
    bytes += chunk.length;
    onBytes(bytes);
  }
  for (const line of splitter.end()) take(line);
  return { entries: list.sorted(), skipped };
}

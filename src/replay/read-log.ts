import { parseAccessLine } from './access-log.js';
import { createEntryList, type Entries } from './entries.js';
import { isKey, type parseKey } from './key.js';
import { createLineSplitter } from './lines.js';

/** Lines that are no log lines or have no key that a Check may carry. */
export interface Skipped {
  count: number;
  /** The numbers of the first few, from 1. */
  first: number[];
}

const MAX_SHOWN = 5;

/** A log's entries by key, and what had to be left out. */
export async function readLog(options: {
  chunks: AsyncIterable<Buffer>;
  keyOf: ReturnType<typeof parseKey>;
  onBytes: (done: number) => void;
}): Promise<{ entries: Entries; skipped: Skipped }> {
  const { chunks, keyOf, onBytes } = options;
  const list = createEntryList();
  const skipped: Skipped = { count: 0, first: [] };
  const splitter = createLineSplitter();
  let number = 0;

  const take = (text: string | undefined): void => {
    number++;
    // A byte order mark is invisible and would make the first client another one.
    const plain = number === 1 ? text?.replace(/^\uFEFF/, '') : text;
    const line = plain === undefined ? undefined : parseAccessLine(plain);
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

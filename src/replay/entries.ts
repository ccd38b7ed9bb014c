/** Entries of one instant, in the order of the file. */
export interface Instant {
  /** Microseconds since 1970. */
  time: number;
  /** Indexes into `Entries.keys`. */
  keys: number[];
}

/** Which key asked at which time, in order of time. */
export interface Entries {
  readonly count: number;
  /** The distinct keys. */
  readonly keys: readonly string[];
  /** The first and the last time in microseconds since 1970; 0 if there are no entries. */
  readonly first: number;
  readonly last: number;
  /** Returns the instants in ascending order. An instant of many entries comes in several parts. */
  instants(): Iterable<Instant>;
}

export interface EntryList {
  add(time: number, key: string): void;
  /** Returns all added entries in order of time. Entries of the same time keep their order. */
  sorted(): Entries;
}

const MAX_INSTANT = 1000;

/**
 * Creates an empty list. It keeps two numbers per entry and no object, so that a log of many million
 * lines fits into memory.
 */
export function createEntryList(): EntryList {
  const times: number[] = [];
  const keyIndexes: number[] = [];
  const keyTable = createKeyTable();
  let isInOrder = true;
  return {
    add(time, key) {
      isInOrder &&= time >= (times[times.length - 1] ?? time);
      times.push(time);
      keyIndexes.push(keyTable.indexOf(key));
    },
    sorted() {
      const order = isInOrder ? undefined : orderOf(times);
      return entriesInOrder(order, times, keyIndexes, keyTable.keys);
    },
  };
}

/** Gives each distinct key a number. */
function createKeyTable() {
  const keys: string[] = [];
  const indexes = new Map<string, number>();
  return {
    keys,
    indexOf(key: string): number {
      const index = indexes.get(key);
      if (index !== undefined) return index;
      // V8 keeps a whole line in memory for a substring of it, but not for a copy.
      const copy = Buffer.from(key).toString();
      indexes.set(copy, keys.length);
      return keys.push(copy) - 1;
    },
  };
}

/** Returns the indexes of `times` in order of time. */
function orderOf(times: readonly number[]): Uint32Array {
  const indexes = new Uint32Array(times.length).map((_, i) => i);
  return indexes.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
}

/** `order` is undefined if the entries are in order of time already. */
function entriesInOrder(
  order: Uint32Array | undefined,
  times: readonly number[],
  keyIndexes: readonly number[],
  keys: readonly string[],
): Entries {
  const at = (i: number): number => order?.[i] ?? i;
  const timeAt = (i: number): number => times[at(i)] ?? 0;
  const count = times.length;
  return {
    count,
    keys,
    first: timeAt(0),
    last: timeAt(count - 1),
    *instants() {
      for (let from = 0, to = 0; from < count; from = to) {
        const instant: Instant = { time: timeAt(from), keys: [] };
        while (to < count && to - from < MAX_INSTANT && timeAt(to) === instant.time) {
          instant.keys.push(keyIndexes[at(to++)] ?? 0);
        }
        yield instant;
      }
    },
  };
}

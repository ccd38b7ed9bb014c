/** Checks of one and the same instant, in the order of the file. */
export interface Instant {
  /** Microseconds. */
  time: number;
  /** Places in `Entries.keys`. */
  keys: number[];
}

/** Who asked when, in the order of time. */
export interface Entries {
  readonly count: number;
  /** The distinct keys. */
  readonly keys: readonly string[];
  /** The first and the last time, 0 if there are no entries. */
  readonly first: number;
  readonly last: number;
  /** Ascending; a crowded instant comes in several parts. */
  instants(): Iterable<Instant>;
}

export interface EntryList {
  add(time: number, key: string): void;
  /** All that were added, sorted. Those of the same time keep their order. */
  sorted(): Entries;
}

const MAX_INSTANT = 1000;

/** Two numbers an entry and no object, so that a log of many million lines fits in memory. */
export function createEntryList(): EntryList {
  const times: number[] = [];
  const keyOf: number[] = [];
  const keys: string[] = [];
  const places = new Map<string, number>();
  let inOrder = true;

  const placeOf = (key: string): number => {
    const known = places.get(key);
    if (known !== undefined) return known;
    // V8 keeps a whole line alive for a part cut out of it; a copy stands alone.
    const copy = Buffer.from(key).toString();
    places.set(copy, keys.length);
    return keys.push(copy) - 1;
  };

  return {
    add(time, key) {
      inOrder &&= time >= (times[times.length - 1] ?? time);
      times.push(time);
      keyOf.push(placeOf(key));
    },
    sorted() {
      const order = inOrder ? undefined : sortedPlaces(times);
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
              instant.keys.push(keyOf[at(to++)] ?? 0);
            }
            yield instant;
          }
        },
      };
    },
  };
}

function sortedPlaces(times: readonly number[]): Uint32Array {
  const places = new Uint32Array(times.length).map((_, i) => i);
  return places.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
}

import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PAIRS = Array.from(ALPHABET, (a) => Array.from(ALPHABET, (b) => a + b)).flat();
/** The last four characters count, and the others stand. */
const HEAD_LENGTH = 22;
const PER_HEAD = PAIRS.length ** 2;

/**
 * Makes ULIDs that sort in the order in which they were made, by a clock in milliseconds that may
 * step back: the time, 60 random bits that are new each millisecond, and 20 that count. The ulid
 * package makes each by itself, which takes a microsecond of every check.
 */
export function createCheckIds(now: () => number): () => string {
  const random = bufferedRandom();
  let time = 0;
  let head = '';
  let count = PER_HEAD;
  return () => {
    const ms = now();
    if (ms > time || count === PER_HEAD) {
      time = Math.max(ms, time + 1);
      head = ulid(time, random).slice(0, HEAD_LENGTH);
      count = 0;
    }
    const high = PAIRS[Math.floor(count / PAIRS.length)];
    const low = PAIRS[count % PAIRS.length];
    count++;
    return `${head}${high}${low}`;
  };
}

export const newCheckId = createCheckIds(Date.now);

/** Numbers in [0, 1) from the system's secure source, as ulid wants them; asking for each takes a microsecond. */
function bufferedRandom(): () => number {
  const bytes = new Uint8Array(4096);
  let at = bytes.length;
  return () => {
    if (at === bytes.length) {
      randomFillSync(bytes);
      at = 0;
    }
    return (bytes[at++] ?? 0) / 256;
  };
}

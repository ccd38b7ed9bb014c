import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** A ULID: random once a millisecond and counted from there, so that those of one process sort by time. */
export const newCheckId = monotonicFactory(bufferedRandom());

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

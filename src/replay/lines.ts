/** No server logs longer lines. Without a bound, a file without line ends would fill the memory. */
const MAX_LINE_BYTES = 64 * 1024;
const LINE_FEED = 10;
const NOTHING: Buffer = Buffer.alloc(0);

/** The text of a line, or undefined if the line is too long. */
type Line = string | undefined;

export interface LineSplitter {
  /** Returns the lines that end in this chunk. */
  push(chunk: Buffer): Line[];
  /** Returns the last line if it has no line end. */
  end(): Line[];
}

/**
 * Splits bytes into lines where `wc` and `sed` do, so that line numbers agree. node:readline also
 * ends a line at U+2028 and at a bare carriage return, which a client can put into a log, and it has
 * no bound.
 */
export function createLineSplitter(): LineSplitter {
  let rest = NOTHING;
  let isTooLong = false;

  const decode = (bytes: Buffer): Line => {
    const line = isTooLong || bytes.length > MAX_LINE_BYTES ? undefined : bytes.toString('utf8');
    isTooLong = false;
    return line?.endsWith('\r') === true ? line.slice(0, -1) : line;
  };

  return {
    push(chunk) {
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const lines: Line[] = [];
      let from = 0;
      for (let to = data.indexOf(LINE_FEED); to !== -1; to = data.indexOf(LINE_FEED, from)) {
        lines.push(decode(data.subarray(from, to)));
        from = to + 1;
      }
      rest = data.subarray(from);
      if (rest.length > MAX_LINE_BYTES) {
        isTooLong = true;
        rest = NOTHING;
      }
      return lines;
    },
    end: () => (rest.length > 0 || isTooLong ? [decode(rest)] : []),
  };
}

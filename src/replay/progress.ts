import type { Writable } from 'node:stream';

export interface Progress {
  show(what: string, done: number, total: number): void;
  /** Removes the bar. */
  clear(): void;
}

const WIDTH = 30;

/** Draws a bar on one line of a terminal. Draws nothing if `err` is not a terminal. */
export function createProgress(err: Writable, isWanted: boolean): Progress {
  if (!isWanted || !('isTTY' in err) || err.isTTY !== true) return { show() {}, clear() {} };
  let shown = '';
  return {
    show(what, done, total) {
      const fraction = total === 0 ? 1 : Math.min(1, done / total);
      const bar = '█'.repeat(Math.floor(fraction * WIDTH)).padEnd(WIDTH, '░');
      const text = `${what} ${bar} ${String(Math.floor(fraction * 100)).padStart(3)}%`;
      if (text === shown) return;
      err.write(`\r${text.padEnd(shown.length)}`);
      shown = text;
    },
    clear() {
      if (shown !== '') err.write(`\r${' '.repeat(shown.length)}\r`);
      shown = '';
    },
  };
}

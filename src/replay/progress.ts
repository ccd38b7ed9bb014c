import type { Writable } from 'node:stream';

export interface Progress {
  show(what: string, done: number, total: number): void;
  /** Wipes the bar away. */
  clear(): void;
}

const WIDTH = 30;

/** A bar on one line of a terminal; nothing where there is no terminal to draw on. */
export function createProgress(err: Writable, wanted: boolean): Progress {
  if (!wanted || !('isTTY' in err) || err.isTTY !== true) return { show() {}, clear() {} };
  let shown = '';
  return {
    show(what, done, total) {
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const bar = '█'.repeat(Math.floor(part * WIDTH)).padEnd(WIDTH, '░');
      const text = `${what} ${bar} ${String(Math.floor(part * 100)).padStart(3)}%`;
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

import { expect, test } from 'vitest';
import { createLineSplitter } from '../../src/replay/lines.js';

/** Splits a text that arrives in chunks of `chunkBytes`. */
function split(text: string, chunkBytes: number) {
  const splitter = createLineSplitter();
  const bytes = Buffer.from(text);
  const lines = [];
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    lines.push(...splitter.push(bytes.subarray(from, from + chunkBytes)));
  }
  return [...lines, ...splitter.end()];
}

test('lines do not depend on how the bytes are cut into chunks', () => {
  const lines = ['eins', '', 'zwei €', 'drei\u2028vier\rfünf', '😀'];
  for (let chunkBytes = 1; chunkBytes < 40; chunkBytes++) {
    expect(split(`${lines.join('\n')}\n`, chunkBytes)).toEqual(lines);
    expect(split(lines.join('\n'), chunkBytes)).toEqual(lines);
    expect(split(lines.join('\r\n'), chunkBytes)).toEqual(lines);
  }
});

test('an empty file has no lines', () => {
  expect(split('', 10)).toEqual([]);
});

test('a line longer than 64 KiB is dropped, and the next line is read', () => {
  const longest = 'x'.repeat(65_536);
  for (const chunkBytes of [1000, 65_536, 1_000_000]) {
    expect(split(`a\n${longest}\n${longest}x\nb\n`, chunkBytes)).toEqual([
      'a',
      longest,
      undefined,
      'b',
    ]);
    expect(split(`a\n${longest.repeat(5)}\nb`, chunkBytes)).toEqual(['a', undefined, 'b']);
    expect(split(`a\n${longest}x`, chunkBytes)).toEqual(['a', undefined]);
  }
});

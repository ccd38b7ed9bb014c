import { expect, test } from 'vitest';
import { countAt, createTimeline, drawTimeline } from '../../src/replay/timeline.js';

const SECOND = 1_000_000;
const START = Date.UTC(2015, 4, 17, 10) * 1000;

test('a timeline covers any span with at most 56 columns, which start at round times', () => {
  for (let span = 0; span < 200 * 366 * 86_400; span = span * 1.3 + 1) {
    const last = START + Math.floor(span) * SECOND;
    const { start, step, allowed, denied } = createTimeline(START, last);
    expect(allowed.length).toBeLessThanOrEqual(56);
    expect(denied).toHaveLength(allowed.length);
    expect(start % step).toBe(0);
    expect(start).toBeLessThanOrEqual(START);
    expect(start + step * allowed.length).toBeGreaterThan(last);
    expect(start + step * (allowed.length - 1)).toBeLessThanOrEqual(last);
  }
});

test('both rows are drawn on one scale, and a count above zero is visible', () => {
  const timeline = createTimeline(START, START + 8 * SECOND);
  for (let i = 0; i < 8; i++) {
    for (let n = 0; n <= i * 100; n++) countAt(timeline, 'allowed', START + i * SECOND);
  }
  countAt(timeline, 'denied', START + 8 * SECOND - 1);
  countAt(timeline, 'denied', START + 8 * SECOND);
  expect(drawTimeline(timeline)).toEqual([
    'timeline, 1s per column',
    'allowed ▁▂▃▄▅▆▇█   peak 701',
    'denied         ▁▁  peak 1',
    '        2015-05-17T10:00:00Z 2015-05-17T10:00:09Z',
  ]);
});

test('a long timeline shows its start on the left and its end on the right', () => {
  const lines = drawTimeline(createTimeline(START, START + 49 * 86_400 * SECOND));
  expect(lines[0]).toBe('timeline, 1d per column');
  expect(lines[3]).toBe(`        2015-05-17T00:00:00Z${' '.repeat(10)}2015-07-06T00:00:00Z`);
});

import { decodeTime, isValid } from 'ulid';
import { expect, test } from 'vitest';
import { createCheckIds } from '../../src/transport/wire/ids.js';

const NOW = Date.UTC(2026, 5, 3);

test('an id is a ULID of its millisecond', () => {
  let now = NOW;
  const newId = createCheckIds(() => now);
  for (const later of [0, 0, 1, 1000]) {
    now += later;
    const id = newId();
    expect(isValid(id)).toBe(true);
    expect(decodeTime(id)).toBe(now);
  }
});

test('ids sort in the order in which they were made, also while the clock steps back', () => {
  let now = NOW;
  const newId = createCheckIds(() => now);
  let last = '';
  for (const step of [0, 0, 1, -5000, 0, 4999, 0, 1, 2]) {
    now += step;
    for (let i = 0; i < 1100; i++) {
      const id = newId();
      expect(id > last).toBe(true);
      last = id;
    }
  }
});

test('more than a million ids of one millisecond are all different, and still sort', () => {
  const newId = createCheckIds(() => NOW);
  let last = '';
  let sorted = true;
  for (let i = 0; i < 2 ** 20 + 10; i++) {
    const id = newId();
    sorted &&= id > last;
    last = id;
  }
  expect(sorted).toBe(true);
  expect(decodeTime(last)).toBe(NOW + 1);
});

test('two makers share no id, nor do two milliseconds of one', () => {
  const heads = new Set<string>();
  for (let maker = 0; maker < 50; maker++) {
    let now = NOW;
    const newId = createCheckIds(() => now++);
    for (let ms = 0; ms < 50; ms++) heads.add(newId().slice(10));
  }
  expect(heads.size).toBe(2500);
});

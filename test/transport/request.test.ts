import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkRequestSchema,
  parseCheck,
  readPlainCheck,
} from '../../src/transport/wire/request.js';

const ID = '01M8PGTBK2Q1NBZ4WMM39MWC4D';

/** Values around what a field takes, so that many checks are well-formed and many just are not. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.integer({ min: 120, max: 130 }).map((length) => 'p'.repeat(length)),
  fc.integer({ min: 338, max: 346 }).map((length) => 'k'.repeat(length)),
  fc.integer({ min: 338, max: 344 }).map((length) => '€'.repeat(length)),
  fc.integer({ min: 1020, max: 1028 }).map((length) => 'k'.repeat(length)),
  fc.constantFrom('', 'login', '\ud800', 'a\udc00', '😀', '\u0000'),
);
const cost = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, 1, 1.5, -1, 2 ** 53 - 1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY),
);
const id = fc.oneof(text, fc.constantFrom(ID, ID.toLowerCase(), `${ID}0`, `8${ID.slice(1)}`));
const anything = fc.anything({ withNullPrototype: true });
const field = (arbitrary: fc.Arbitrary<unknown>, good: unknown) =>
  fc.oneof(
    { arbitrary, weight: 5 },
    { arbitrary: fc.constant(good), weight: 5 },
    { arbitrary: anything, weight: 1 },
  );
const request = fc.oneof(
  { arbitrary: anything, weight: 1 },
  {
    arbitrary: fc.record(
      {
        policy: field(text, 'login'),
        key: field(text, 'k'),
        cost: field(cost, 5),
        checkId: field(id, ID),
      },
      { requiredKeys: [] },
    ),
    weight: 8,
  },
  {
    arbitrary: fc
      .record({ policy: field(text, 'login'), key: field(text, 'k') })
      .chain((known) => fc.string().map((name) => ({ ...known, [name]: 1 }))),
    weight: 2,
  },
);

test('a check that is read plainly is what the schema reads', () => {
  let plain = 0;
  fc.assert(
    fc.property(request, (data) => {
      const found = readPlainCheck(data);
      if (found === undefined) return;
      plain++;
      const { checkId = found.id, ...rest } = checkRequestSchema.parse(data);
      expect(found).toEqual({ kind: 'request', ...rest, id: checkId });
    }),
    { numRuns: 20_000 },
  );
  expect(plain).toBeGreaterThan(1000);
});

test.each([
  [{ policy: 'login', key: 'k' }],
  [{ policy: 'login', key: 'k'.repeat(341) }],
  [{ policy: 'p'.repeat(128), key: '€', cost: 0 }],
  [{ policy: 'login', key: 'k', cost: 2 ** 53 - 1, checkId: ID }],
])('the usual check %j is read plainly', (data) => {
  expect(readPlainCheck(data)).toMatchObject({ kind: 'request', key: data.key });
});

test('what is not read plainly may still be right', () => {
  const key = 'k'.repeat(1024);
  expect(readPlainCheck({ policy: 'login', key })).toBeUndefined();
  expect(parseCheck({ policy: 'login', key })).toMatchObject({ kind: 'request', key, cost: 1 });
});

test('a field that is no field is refused, whatever its name', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'policy ', '']) {
    const data = JSON.parse(`{"policy":"login","key":"k",${JSON.stringify(name)}:{"cost":5}}`);
    expect(parseCheck(data)).toMatchObject({ kind: 'bad-request' });
  }
});

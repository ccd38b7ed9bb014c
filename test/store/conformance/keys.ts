import { expect } from 'vitest';
import { policyOf } from '../../kit/policies.js';
import { type Case, fixedPeriod, slidingLog } from './case.js';

const ONCE = [fixedPeriod(1, '60s'), slidingLog(1, '60s')] as const;

/** Keys are opaque, byte-exact, and belong to their policy. */
export const keyCases: readonly Case[] = [
  {
    name: 'C132 does not join the parts of a key: policy a:b with key c, and policy a with key b:c',
    async run({ ask }) {
      for (const limit of ONCE) {
        for (const [first, second] of [
          [
            { policy: 'a:b', key: 'c' },
            { policy: 'a', key: 'b:c' },
          ],
          [
            { policy: 'a/b', key: 'c' },
            { policy: 'a', key: '/b/c' },
          ],
          [
            { policy: 'a', key: '%3A' },
            { policy: 'a', key: ':' },
          ],
          [
            { policy: 'a', key: 'b|c' },
            { policy: 'a', key: 'b\\c' },
          ],
          [
            { policy: 'a', key: '}:b' },
            { policy: 'a', key: '%7D:b' },
          ],
          [
            { policy: 'a', key: '#' },
            { policy: 'a', key: '%23' },
          ],
        ] as const) {
          const pair = [first, second].map((one) => ({
            policy: policyOf(one.policy, limit),
            key: one.key,
          }));
          for (const code of ['HIT_QUOTA', 'OVER_QUOTA']) {
            for (const { policy, key } of pair)
              expect((await ask(policy, { key })).code).toBe(code);
          }
        }
      }
    },
  },
  {
    name: 'C133 tells long keys apart, by their first character and by their last',
    async run({ ask }) {
      const long = 'x'.repeat(300);
      await expectIndependent(ask, [`${long}a`, `${long}b`, `a${long}`, `b${long}`]);
    },
  },
  {
    name: 'C134 takes every text for a key, controls and scripts of all kinds included',
    async run({ ask }) {
      await expectIndependent(ask, [
        ...['a b', 'a\nb', 'a\r\nDEL x', 'a\u0000b', 'a\u0000', 'a', 'a\u2028b', 'x'],
        ...['👍🏽', 'שלום', '{x}', '{', '}', '*', '?', '..', '\t', ' ', '__proto__', 'constructor'],
      ]);
    },
  },
  {
    name: 'C135 keeps texts apart that look the same: accents, letter case, a space at the end',
    async run({ ask }) {
      await expectIndependent(ask, ['\u00e9', 'e\u0301', 'User', 'user', 'a', 'a ']);
    },
  },
  {
    name: 'C136 tells keys of 1024 bytes apart',
    async run({ ask }) {
      await expectIndependent(ask, [
        ...['a', 'b'].map((end) => 'k'.repeat(1023) + end),
        ...['a', 'b'].map((end) => `${'é'.repeat(511)}:${end}`),
        ...['a', 'b'].map((end) => '\u0000'.repeat(1023) + end),
      ]);
    },
  },
  {
    name: 'C139 keeps policies apart that are asked about the same key',
    async run({ ask }) {
      for (const kind of [fixedPeriod, slidingLog]) {
        const key = kind.name;
        const first = policyOf('p1', kind(1, '1m'));
        const second = policyOf('p2', kind(5, '1m'));
        expect((await ask(first, { key })).code).toBe('HIT_QUOTA');
        expect((await ask(first, { key })).code).toBe('OVER_QUOTA');
        expect((await ask(second, { key })).strictest.remaining).toBe(4);
      }
    },
  },
];

async function expectIndependent(
  ask: Parameters<Case['run']>[0]['ask'],
  keys: readonly string[],
): Promise<void> {
  for (const [i, limit] of ONCE.entries()) {
    const policy = policyOf(`once-${i}`, limit);
    for (const code of ['HIT_QUOTA', 'OVER_QUOTA']) {
      for (const key of keys) expect([key, (await ask(policy, { key })).code]).toEqual([key, code]);
    }
  }
}

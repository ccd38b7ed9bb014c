import { expect, test } from 'vitest';
import { tempFile } from '../kit/files.js';
import { LOG, logLine, POLICIES, run } from './run.js';

const policies = () => tempFile('policies.yaml', POLICIES);

test('replay prints the figures, the keys denied most and a timeline of each policy', async () => {
  const log = tempFile('access.log', [...LOG, 'nonsense\n', logLine(9, '10.0.0.2')].join(''));
  const { out, err } = await run({ policies: policies(), log });
  const gap = ' '.repeat(40);
  expect(out).toBe(`login: two a minute
  checks      9
  allowed     6  66.7%
  denied      3  33.3%
  keys        3
  keys denied 2  66.7%
  codes       ALLOWED 4, HIT_QUOTA 2, OVER_QUOTA 3

  denied  key
       2  10.0.0.1
       1  2001:db8::7

  timeline, 2s per column
  allowed █ ▄▄▄${gap}▄  peak 2
  denied   █ ▄ ${gap}   peak 2
          2015-05-17T00:00:00Z      2015-05-17T00:01:32Z

hour
  checks      9
  allowed     9  100.0%
  denied      0  0.0%
  keys        3
  keys denied 0  0.0%
  codes       ALLOWED 9, HIT_QUOTA 0, OVER_QUOTA 0

  timeline, 2s per column
  allowed ██▄█▄${gap}▄  peak 2
  denied       ${gap}   peak 0
          2015-05-17T00:00:00Z      2015-05-17T00:01:32Z

skipped 1 line (number 9): not in the common or combined log format, or without a usable key
`);
  expect(err).toBe('');
});

test('replay --json prints exactly these fields', async () => {
  const log = tempFile('access.log', `${LOG.join('')}\nnonsense\n`);
  const { out, err } = await run({ policies: policies(), log, json: true });
  const login = {
    ...{ checks: 8, allowed: 5, denied: 3, keys: 2, keysDenied: 2 },
    codes: { ALLOWED: 3, HIT_QUOTA: 2, OVER_QUOTA: 3 },
    topDenied: [
      { key: '10.0.0.1', denied: 2 },
      { key: '2001:db8::7', denied: 1 },
    ],
  };
  const hour = {
    ...{ checks: 8, allowed: 8, denied: 0, keys: 2, keysDenied: 0 },
    codes: { ALLOWED: 8, HIT_QUOTA: 0, OVER_QUOTA: 0 },
    topDenied: [],
  };
  expect(JSON.parse(out)).toStrictEqual({ policies: { login, hour }, skippedLines: 2 });
  expect(out).toMatch(/^\{.*\}\n$/);
  expect(err).toBe('');
});

const HOSTILE = '/\u001B]0;owned\u0007\u009B31m\u202Egnp.exe\u2028\u200B\u{E0041}\u007F';

test('control characters in a key do not reach the terminal', async () => {
  const stdin = [0, 1, 2].map((seconds) => logLine(seconds, '::1', HOSTILE)).join('');
  const options = { policies: policies(), log: '-', key: 'path', stdin };
  const { out } = await run(options);
  expect(out).toContain(
    '     1  /\\u001b]0;owned\\u0007\\u009b31m\\u202egnp.exe\\u2028\\u200b\\udb40\\udc41\\u007f\n',
  );
  const { out: json } = await run({ ...options, json: true });
  for (const text of [out, json]) {
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
  expect(JSON.parse(json)).toMatchObject({
    policies: { login: { topDenied: [{ key: HOSTILE, denied: 1 }] } },
  });
});

test('a long key is shortened on the terminal, and is whole in JSON', async () => {
  const path = `/${'€'.repeat(300)}`;
  const stdin = logLine(0, '::1', path).repeat(3);
  const options = { policies: policies(), log: '-', key: 'path', stdin };
  expect((await run(options)).out).toContain(`     1  /${'€'.repeat(99)}...\n`);
  expect((await run({ ...options, json: true })).out).toContain(`"key":"${path}"`);
});

test('a description is printed on one line, without control characters', async () => {
  const yaml = POLICIES.replace('two a minute', '"two\\n  a \\e[31mminute"');
  const { out } = await run({ policies: tempFile('p.yaml', yaml), log: '-' });
  expect(out.split('\n')[0]).toBe('login: two a \\u001b[31mminute');
});

test('a small share is not shown as 0.0%, nor a large one as 100.0%', async () => {
  const others = Array.from({ length: 8000 }, (_, i) => logLine(0, `client-${i}`));
  const { out } = await run({
    policies: policies(),
    log: '-',
    stdin: [...others, ...LOG].join(''),
  });
  expect(out).toContain('  allowed     8005  >99.9%\n  denied         3  <0.1%\n');
  expect(out).toContain('  keys denied    2  <0.1%\n');
});

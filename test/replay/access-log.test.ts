import { describe, expect, test } from 'vitest';
import { parseAccessLine } from '../../src/replay/access-log.js';

const COMMON = '10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 203';
const TIME = Date.UTC(2015, 4, 17, 10, 5, 3) * 1000;

/** The common line with some parts replaced. */
function lineWith(part: { client?: string; user?: string; time?: string; request?: string }) {
  const { client = '10.0.0.1', user = '-', time = '17/May/2015:10:05:03 +0000' } = part;
  return `${client} - ${user} [${time}] "${part.request ?? 'GET /a HTTP/1.1'}" 200 203`;
}

describe('a line of an access log', () => {
  test('is parsed in the common format', () => {
    const line = { time: TIME, client: '10.0.0.1', user: '-', method: 'GET', path: '/a' };
    expect(parseAccessLine(COMMON)).toEqual({ ...line, status: '200' });
  });

  test('is parsed in the combined format and in formats that extend it', () => {
    for (const suffix of [' "-" "browser"', ' "-" "a \\"b\\" c"', ' "-" "-" 0.003 "10.1.1.1"']) {
      expect(parseAccessLine(COMMON + suffix)).toEqual(parseAccessLine(COMMON));
    }
  });

  test('may have an IPv6 address or a host name as its client', () => {
    for (const client of ['2001:db8::1', '::ffff:10.0.0.1', '::1', 'crawl-66.example.net']) {
      expect(parseAccessLine(lineWith({ client }))).toMatchObject({ client, path: '/a' });
    }
  });

  test('may have no status and no size', () => {
    const line = COMMON.replace('200 203', '- -');
    expect(parseAccessLine(line)).toMatchObject({ status: '-', path: '/a' });
  });

  test('has a time that is converted to UTC', () => {
    const at = (time: string) => parseAccessLine(lineWith({ time }))?.time;
    expect(at('17/May/2015:15:35:03 +0530')).toBe(TIME);
    expect(at('17/May/2015:00:35:03 -0930')).toBe(TIME);
    expect(at('18/May/2015:00:05:03 +1400')).toBe(TIME);
    expect(at('29/Feb/2024:00:00:00 +0000')).toBe(Date.UTC(2024, 1, 29) * 1000);
  });

  test('keeps escaped quotes in its request as the server wrote them', () => {
    const line = parseAccessLine(lineWith({ request: 'GET /say/\\"hi\\" HTTP/1.1' }));
    expect(line).toMatchObject({ method: 'GET', path: '/say/\\"hi\\"', status: '200' });
  });

  test('has a path without the query', () => {
    const line = parseAccessLine(lineWith({ request: 'GET /search?q=%22x%22 HTTP/2.0' }));
    expect(line).toMatchObject({ path: '/search' });
  });

  test.each([
    '-',
    '',
    'GET /',
    '\\x16\\x03\\x01',
    'GET /a b HTTP/1.1',
    'GET  /a HTTP/1.1',
    'a b c',
  ])('has no method and no path if its request is "%s"', (request) => {
    expect(parseAccessLine(lineWith({ request }))).toMatchObject({ method: '-', path: '-' });
  });

  test('may have a user with spaces, brackets and escaped quotes', () => {
    for (const user of ['ann', 'Ann Lee', 'a [b] c', 'a [b', '\\"ann\\"']) {
      expect(parseAccessLine(lineWith({ user }))).toMatchObject({ user, time: TIME });
    }
  });

  test('cannot have its time or request forged by a user name', () => {
    const user = 'x [01/Jan/2000:00:00:00 +0000] \\"GET /forged HTTP/1.1\\" 200 1';
    expect(parseAccessLine(lineWith({ user }))).toMatchObject({ time: TIME, user, path: '/a' });
  });
});

describe('a line is rejected', () => {
  test.each([
    ['empty', ''],
    ['a word', 'hello'],
    ['JSON', '{"client":"10.0.0.1"}'],
    ['a line cut off in its request', COMMON.slice(0, 55)],
    ['a line cut off before its size', COMMON.slice(0, -4)],
    ['a line with a second line appended', COMMON + COMMON],
    ['a line with a status that is not a number', COMMON.replace('200', '2x0')],
    ['a line without a time', COMMON.replace(/\[.*\] /, '')],
    ['a line without a client', COMMON.slice(8)],
  ])('if it is %s', (_, line) => {
    expect(parseAccessLine(line)).toBeUndefined();
  });

  test.each([
    '30/Feb/2015:10:05:03 +0000',
    '29/Feb/2015:10:05:03 +0000',
    '31/Apr/2015:10:05:03 +0000',
    '00/May/2015:10:05:03 +0000',
    '32/May/2015:10:05:03 +0000',
    '17/Mai/2015:10:05:03 +0000',
    '17/may/2015:10:05:03 +0000',
    '17/May/2015:24:00:00 +0000',
    '17/May/2015:10:60:03 +0000',
    '17/May/2015:10:05:60 +0000',
    '17/May/2015:10:05:03 +1500',
    '17/May/2015:10:05:03 +0060',
    '17/May/2015:10:05:03 0000',
    '17/May/2015:10:05:03',
    '2015-05-17T10:05:03Z',
    '31/Dec/1969:23:59:59 +0000',
    '01/Jan/1970:00:00:00 +0001',
    '01/Jan/2200:00:00:00 +0000',
  ])('if its time is %s', (time) => {
    expect(parseAccessLine(lineWith({ time }))).toBeUndefined();
  });

  test('within a second, even if it is made to be slow to match', () => {
    // With each of these, a careless pattern would try every way to split the line.
    for (const part of [' [', '\\"', ' [17/May/2015:10:05:03 +0000] ', '\\', ' ']) {
      const line = `10.0.0.1 - ${part.repeat(65_536 / part.length)}`;
      const start = performance.now();
      expect(parseAccessLine(line)).toBeUndefined();
      expect(performance.now() - start).toBeLessThan(1000);
    }
  });
});

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, post, type Service, startService } from '../kit/service.js';

const START = 1_800_000_000_000_000;
let now = START;
let service: Service;

beforeAll(async () => {
  service = await startService({
    clock: () => now,
    yaml: `
policies:
  login: { description: five, limits: [{ algorithm: fixed-period, quota: 5, period: 1m }] }
  fifty: { limits: [{ algorithm: fixed-period, quota: 1, period: 50s }] }
  log: { limits: [{ algorithm: sliding-log, quota: 2, period: 1500ms }] }
  day: { limits: [{ algorithm: fixed-period, quota: 5, period: day, timezone: Asia/Shanghai }] }
  both:
    limits:
      - { name: min, algorithm: fixed-period, quota: 10, period: 60s }
      - { name: hour, algorithm: fixed-period, quota: 100, period: 3600s }
  zero: { limits: [{ algorithm: fixed-period, quota: 0, period: 1m }] }
  huge: { limits: [{ algorithm: fixed-period, quota: 9007199254740991, period: 1h }] }
`,
  });
});
afterAll(() => service.close());

function postBytes(body: Buffer): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${service.rest}/v1/check`, { method: 'POST', headers, body: new Uint8Array(body) });
}

/** What a server writes before it closes the connection on which it got `text`. */
async function exchange(address: string, text: string): Promise<string> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

describe('a check over REST', () => {
  it('answers an allowed check with every field of the Decision', async () => {
    const { status, headers, body } = await post(service, {
      policy: 'login',
      key: 'user-1',
      cost: 2,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      allowed: true,
      code: 'ALLOWED',
      policy: 'login',
      key: 'user-1',
      cost: 2,
      limit: 'login',
      quota: 5,
      remaining: 3,
      resetAfterMs: 60_000,
      limits: [
        {
          name: 'login',
          algorithm: 'fixed-period',
          allowed: true,
          quota: 5,
          remaining: 3,
          resetAfterMs: 60_000,
        },
      ],
      decidedBy: 'store',
      checkId: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      headers: { RateLimit: '"login";r=3;t=60', 'RateLimit-Policy': '"login";q=5;w=60' },
    });
    expect(headers.get('ratelimit')).toBe('"login";r=3;t=60');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('answers a denial with 200, or with 429 where denyStatus asks for it', async () => {
    for (let i = 0; i < 5; i++) await post(service, { policy: 'login', key: 'denied' });
    const plain = await post(service, { policy: 'login', key: 'denied' });
    const asked = await post(service, { policy: 'login', key: 'denied' }, '?denyStatus=429');
    expect([plain.status, asked.status]).toEqual([200, 429]);
    expect(plain.body).toMatchObject({ allowed: false, code: 'OVER_QUOTA', retryAfterMs: 60_000 });
    expect(asked.headers.get('retry-after')).toBe('60');
  });

  it('C145: gives the true wait and not the length of the window', async () => {
    now = START;
    await post(service, { policy: 'fifty', key: 'k' });
    now = START + 45_000_000;
    const { body, headers } = await post(service, { policy: 'fifty', key: 'k' }, '?denyStatus=429');
    expect(body).toMatchObject({ retryAfterMs: 5000, resetAfterMs: 5000 });
    expect(headers.get('retry-after')).toBe('5');
    now = START;
  });

  it('rounds a wait of one microsecond up to 1 ms and 1 s', async () => {
    await post(service, { policy: 'fifty', key: 'micro' });
    now = START + 49_999_999;
    const { body, headers } = await post(service, { policy: 'fifty', key: 'micro' });
    expect(body).toMatchObject({ allowed: false, retryAfterMs: 1 });
    expect(headers.get('retry-after')).toBe('1');
    now = START;
  });

  it('C141: a client that sleeps exactly the first Retry-After is allowed', async () => {
    for (const policy of ['fifty', 'log']) {
      now = START;
      for (let i = 0; i < 2; i++) await post(service, { policy, key: 'sleeper' });
      now = START + 10_000;
      const { headers } = await post(service, { policy, key: 'sleeper' });
      const wait = Number(headers.get('retry-after'));
      expect(wait).toBeGreaterThanOrEqual(1);
      now += wait * 1_000_000;
      expect((await post(service, { policy, key: 'sleeper' })).body.allowed).toBe(true);
    }
    now = START;
  });

  it('C151: with several limits names each of them, and Retry-After belongs to the one that denies', async () => {
    let last = await post(service, { policy: 'both', key: 'k' });
    for (let i = 0; i < 2; i++) last = await post(service, { policy: 'both', key: 'k' });
    expect(last.headers.get('ratelimit')).toBe('"min";r=7;t=60, "hour";r=97;t=3600');
    expect(last.headers.get('ratelimit-policy')).toBe('"min";q=10;w=60, "hour";q=100;w=3600');
    const denied = await post(service, { policy: 'both', key: 'k', cost: 8 });
    expect(denied.body).toMatchObject({ limit: 'min', remaining: 7, retryAfterMs: 60_000 });
    expect(denied.headers.get('retry-after')).toBe('60');
  });

  it('leaves w out where a window has no constant number of whole seconds', async () => {
    const day = await post(service, { policy: 'day', key: 'k' });
    const log = await post(service, { policy: 'log', key: 'w' });
    expect(day.headers.get('ratelimit-policy')).toBe('"day";q=5');
    expect(log.headers.get('ratelimit-policy')).toBe('"log";q=2');
    expect(log.headers.get('ratelimit')).toBe('"log";r=1;t=2');
  });

  it('C086: counts down from 2^53 - 1 exactly, and caps header values at 15 digits', async () => {
    const remaining: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      remaining.push((await post(service, { policy: 'huge', key: 'k' })).body.remaining);
    }
    expect(remaining).toEqual([9007199254740990, 9007199254740989, 9007199254740988]);
    const { headers } = await post(service, { policy: 'huge', key: 'k', cost: 0 });
    expect(headers.get('ratelimit')).toBe('"huge";r=999999999999999;t=3600');
  });

  it('C072: a cost above the quota is denied for good, without a time to retry', async () => {
    const { body, headers } = await post(service, { policy: 'login', key: 'greedy', cost: 6 });
    expect(body).toMatchObject({ allowed: false, code: 'OVER_QUOTA', remaining: 5 });
    expect(body).not.toHaveProperty('retryAfterMs');
    expect(headers.has('retry-after')).toBe(false);
  });

  it('leaves t out where no wait helps, since t=0 would say: now', async () => {
    const zero = await post(service, { policy: 'zero', key: 'k' });
    const greedy = await post(service, { policy: 'login', key: 'greedy', cost: 6 });
    const peek = await get(service, '/v1/policies/zero/keys/k');
    expect(zero.headers.get('ratelimit')).toBe('"zero";r=0');
    expect(greedy.headers.get('ratelimit')).toBe('"login";r=5');
    expect(peek.headers.get('ratelimit')).toBe('"zero";r=0');
  });

  it('takes a ULID of the caller as the id', async () => {
    const checkId = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
    expect((await post(service, { policy: 'login', key: 'id', checkId })).body.checkId).toBe(
      checkId,
    );
  });

  it('C146: a full limit has the headers with t=0', async () => {
    const { body } = await get(service, '/v1/policies/login/keys/nobody');
    expect(body).toMatchObject({ resetAfterMs: 0, headers: { RateLimit: '"login";r=5;t=0' } });
  });

  it('C189: no header of the request has any influence', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        fetch(`${service.rest}/v1/check`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.0.${i}` },
          body: JSON.stringify({ policy: 'login', key: 'one' }),
        }).then((response) => response.json()),
      ),
    );
    expect(answers.filter((answer) => Object(answer).allowed)).toHaveLength(5);
  });
});

describe('policies and peeks over REST', () => {
  it('lists the policies and shows one', async () => {
    const list = await get(service, '/v1/policies');
    expect(list.body.policies).toHaveLength(7);
    const one = await get(service, '/v1/policies/day');
    expect(one.body).toEqual({
      name: 'day',
      limits: [
        {
          name: 'day',
          algorithm: 'fixed-period',
          quota: 5,
          period: 'day',
          timezone: 'Asia/Shanghai',
          countDenied: false,
        },
      ],
    });
  });

  it('peeks without charging, at any key', async () => {
    const key = 'a/b c:{d}é%';
    await post(service, { policy: 'login', key, cost: 4 });
    const path = `/v1/policies/login/keys/${encodeURIComponent(key)}`;
    for (let i = 0; i < 3; i++) {
      expect((await get(service, path)).body).toMatchObject({ key, cost: 0, remaining: 1 });
    }
  });

  it('peeks at a key of 1024 bytes whose every byte is escaped', async () => {
    const key = '/'.repeat(1024);
    expect((await get(service, `/v1/policies/login/keys/${encodeURIComponent(key)}`)).status).toBe(
      200,
    );
  });

  it('serves OpenAPI and a page to read it', async () => {
    const { body } = await get(service, '/openapi.json');
    expect(Object.keys(Object(body.paths))).toEqual([
      '/v1/check',
      '/v1/policies',
      '/v1/policies/{policy}',
      '/v1/policies/{policy}/keys/{key}',
    ]);
    const page = await fetch(`${service.rest}/docs/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
  });
});

describe('bad input over REST', () => {
  const violations = async (body: unknown): Promise<string[]> => {
    const answer = await post(service, body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.body).toMatchObject({ status: 400, reason: 'BAD_REQUEST' });
    return String(answer.body.detail).split('; ');
  };

  it.each([
    [-1, 'cost: wanted at least 0, got -1'],
    [-1_000_000, 'cost: wanted at least 0, got -1000000'],
    [1.5, 'cost: wanted a whole number below 2^53, got 1.5'],
    ['1', 'cost: wanted a number, got "1"'],
    [true, 'cost: wanted a number, got true'],
    [null, 'cost: wanted a number, got null'],
    [[1], 'cost: wanted a number, got [1]'],
    [{}, 'cost: wanted a number, got {}'],
    [9007199254740992, 'cost: wanted at most 9007199254740991, got 9007199254740992'],
  ])('C075, C076: refuses a cost of %j', async (cost, message) => {
    expect(await violations({ policy: 'login', key: 'bad', cost })).toContain(message);
    const peek = await get(service, '/v1/policies/login/keys/bad');
    expect(peek.body.remaining).toBe(5);
  });

  it('refuses a cost that JSON can write and no number can hold', async () => {
    await violations('{"policy":"login","key":"bad","cost":1e400}');
  });

  it('C130: refuses a missing or empty key', async () => {
    expect(await violations({ policy: 'login', key: '' })).toEqual([
      'key: wanted at least 1 character, got ""',
    ]);
    expect(await violations({ policy: 'login' })).toEqual(['key: wanted a string, got nothing']);
    expect((await get(service, '/v1/policies/login/keys/')).status).toBe(400);
  });

  it('C136: takes a key of 1024 bytes and refuses one of 1025, whatever its characters', async () => {
    expect((await post(service, { policy: 'login', key: 'é'.repeat(512) })).status).toBe(200);
    await violations({ policy: 'login', key: `${'é'.repeat(512)}x` });
    await violations({ policy: 'login', key: 'x'.repeat(1025) });
  });

  it('C134: refuses a lone surrogate, and keeps control characters apart', async () => {
    await violations('{"policy":"login","key":"\\ud800"}');
    for (const key of ['a b', 'a\nb', 'a\r\nDEL x', 'a\u0000b', 'a\u2028b', '🙂', 'שלום']) {
      expect((await post(service, { policy: 'fifty', key })).body.allowed).toBe(true);
      expect((await post(service, { policy: 'fifty', key })).body.allowed).toBe(false);
    }
  });

  it('names unknown fields, with those that look like them', async () => {
    expect(await violations({ policy: 'login', key: 'k', kost: 1 })).toEqual([
      'kost: unknown field (did you mean cost?)',
      'wanted one of policy, key, cost, checkId',
    ]);
  });

  it('tells twenty mistakes and how many more there are, in an answer that stays small', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`f${i}`, 1]));
    const { status, body } = await post(service, { policy: 'login', key: 'k', ...unknown });
    expect(status).toBe(400);
    expect(body.violations).toHaveLength(21);
    expect(body.detail).toMatch(/; and 1480 more$/);
    const long = await post(service, { policy: 'login', key: 'k', ['f'.repeat(16_000)]: 1 });
    expect(JSON.stringify(long.body).length).toBeLessThan(1000);
  });

  it('refuses bytes that are not UTF-8, which would make different keys one', async () => {
    for (const byte of [0xff, 0xfe]) {
      const body = Buffer.from('{"policy":"login","key":"?"}');
      body[body.indexOf('?')] = byte;
      const response = await postBytes(body);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ detail: 'wanted UTF-8' });
    }
    const { body } = await post(service, { policy: 'login', key: '\ufffd' });
    expect(body).toMatchObject({ key: '\ufffd', allowed: true });
  });

  it.each([
    ['a line that is no request', 'what?\r\n\r\n', 400],
    ['a header over 16 KiB', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ])('answers %s with a problem as well', async (_what, text, status) => {
    for (const address of [service.rest, service.admin]) {
      const answer = await exchange(address, text);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).toContain(`HTTP/1.1 ${status} `);
      expect(head).toContain('content-type: application/problem+json');
      expect(head).toContain('connection: close');
      expect(JSON.parse(body)).toMatchObject({ status, reason: 'BAD_REQUEST' });
    }
  });

  it('the admin port answers what is not there with a problem', async () => {
    const response = await fetch(`${service.admin}/nowhere`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
    expect((await fetch(`${service.admin}/livez`, { method: 'POST' })).status).toBe(405);
  });

  it('tells every mistake at once', async () => {
    expect(await violations({ policy: 1, key: 2, cost: 'x', checkId: 'y' })).toHaveLength(4);
  });

  it('C173: an unknown policy is a 404 that offers near names', async () => {
    const { status, body } = await post(service, { policy: 'logn', key: 'k' });
    expect(status).toBe(404);
    expect(body).toMatchObject({ reason: 'POLICY_NOT_FOUND', near: ['login', 'log'] });
    expect((await get(service, '/v1/policies/nothing-like-it')).body.near).toEqual([]);
  });

  it.each([
    ['{"a', 'application/json', 400],
    ['', 'application/json', 400],
    ['[1]', 'application/json', 400],
    ['null', 'application/json', 400],
    ['{"__proto__":{"x":1},"policy":"login","key":"k"}', 'application/json', 400],
    ['policy=login', 'application/x-www-form-urlencoded', 415],
    ['{}', 'text/plain', 415],
    [JSON.stringify({ policy: 'login', key: 'x'.repeat(20_000) }), 'application/json', 413],
  ])('answers %.20j as %s with %i', async (body, type, status) => {
    const response = await fetch(`${service.rest}/v1/check`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({ status });
  });

  it('says which method is wanted, and where to look for what is not there', async () => {
    const wrong = await get(service, '/v1/check');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await get(service, '/nowhere')).status).toBe(404);
    expect((await get(service, '/v1/policies/login/keys/%ff')).body.status).toBe(400);
  });

  it('refuses a denyStatus that is not 429', async () => {
    expect((await post(service, { policy: 'login', key: 'k' }, '?denyStatus=500')).status).toBe(
      400,
    );
  });
});

describe('a cost that would keep the store busy', () => {
  it('is refused where every unit is remembered, and not where only a number is', async () => {
    const big = await startService({
      yaml: `
policies:
  log: { limits: [{ algorithm: sliding-log, quota: 100000, period: 1m }] }
  fixed: { limits: [{ algorithm: fixed-period, quota: 100000, period: 1m }] }
`,
    });
    const ask = (policy: string, cost: number) => post(big, { policy, key: 'k', cost });
    expect((await ask('log', 2_000)).body).toMatchObject({ remaining: 98_000 });
    expect(await ask('log', 2_001)).toMatchObject({
      status: 400,
      body: {
        reason: 'BAD_REQUEST',
        detail:
          'cost: wanted at most 2000 under policy log, since sliding-log remembers every unit, got 2001',
      },
    });
    expect((await ask('log', 100_001)).body).toMatchObject({ allowed: false, remaining: 98_000 });
    expect((await ask('fixed', 100_000)).body).toMatchObject({ code: 'HIT_QUOTA' });
    await big.close();
  });
});

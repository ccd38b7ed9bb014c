import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome, Store } from '../../src/store/store.js';
import { SocketError } from '../../src/transport/grpc/socket.js';
import { type Caller, grpcCaller, post, type Service, startService } from '../kit/service.js';

const yaml = `
policies:
  login: { limits: [{ algorithm: fixed-period, quota: 5, period: 1m }] }
  both:
    limits:
      - { name: burst, algorithm: sliding-log, quota: 3, period: 1s }
      - { name: daily, algorithm: fixed-period, quota: 100, period: day }
`;
const socket = join(mkdtempSync(join(tmpdir(), 'sluice-socket-')), 'grpc.sock');
const HEALTH = {
  folder: 'node_modules/grpc-health-check/proto',
  file: 'health/v1/health.proto',
  name: 'grpc.health.v1.Health',
};

/** A request on the wire, whose characters are bytes. */
function message(...texts: string[]): Buffer {
  const fields = texts.map((text, i) => {
    const bytes = Buffer.from(text, 'latin1');
    return Buffer.concat([Buffer.from([((i + 1) << 3) | 2, bytes.length]), bytes]);
  });
  return Buffer.concat(fields);
}

async function badRequests({ metrics }: Service): Promise<number> {
  const line = /^sluice_bad_requests_total\{transport="grpc"\} (\d+)$/m;
  return Number(line.exec(await metrics.text())?.[1]);
}

let service: Service;
let caller: Caller;

beforeAll(async () => {
  service = await startService({ yaml, socket });
  caller = grpcCaller(service.grpc);
});
afterAll(async () => {
  caller.close();
  await service.close();
});

describe('a check over gRPC', () => {
  it('gives the Decision that REST gives, check by check', async () => {
    const twin = await startService({ yaml });
    for (const cost of [1, 0, 1, 2, 1, 4, 1]) {
      const checkId = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
      const request = { policy: 'both', key: 'k', cost, checkId };
      const answer = await caller.call('Check', request);
      const { body } = await post(twin, request);
      expect(answer).toEqual({ message: { ...body, code: `CODE_${body.code}` } });
    }
    await twin.close();
  });

  it('takes an absent cost as 1 and an absent id as one to make', async () => {
    const answer = await caller.call('Check', { policy: 'login', key: 'absent' });
    expect(answer).toMatchObject({
      message: { cost: 1, remaining: 4, checkId: expect.stringMatching(/^.{26}$/) },
    });
  });

  it('answers a denial with OK', async () => {
    const answer = await caller.call('Check', { policy: 'login', key: 'd', cost: 6 });
    expect(answer).toMatchObject({ message: { allowed: false, code: 'CODE_OVER_QUOTA' } });
  });

  it.each([-1, -2_147_483_648, 2 ** 53, 2 ** 63])(
    'C076: refuses a cost of %d and charges nothing',
    async (cost) => {
      const answer = await caller.call('Check', { policy: 'login', key: 'wrapped', cost });
      expect(answer).toMatchObject({ code: 3, details: expect.stringContaining('cost: wanted') });
      const peek = await caller.call('Peek', { policy: 'login', key: 'wrapped' });
      expect(peek).toMatchObject({ message: { remaining: 5 } });
    },
  );

  it('tells errors apart by ErrorInfo, with what was wrong', async () => {
    const bad = await caller.call('Check', { policy: 'login' });
    expect(bad).toMatchObject({ code: 3, statusDetails: expect.stringContaining('BAD_REQUEST') });
    const unknown = await caller.call('Check', { policy: 'logn', key: 'k' });
    expect(unknown).toMatchObject({
      code: 5,
      details: 'there is no policy "logn" (did you mean login?)',
      statusDetails: expect.stringContaining('POLICY_NOT_FOUND'),
    });
    expect(await caller.call('Check', { key: 'k' })).toMatchObject({ code: 3 });
    expect(await caller.call('Check', { policy: 'login', key: 'x'.repeat(1025) })).toMatchObject({
      code: 3,
    });
  });

  it('refuses a message over 16 KiB without an ErrorInfo', async () => {
    const answer = await caller.call('Check', { policy: 'login', key: 'x'.repeat(20_000) });
    expect(answer).toMatchObject({ code: 8, statusDetails: '' });
  });

  it('peeks, lists and shows policies as REST does', async () => {
    const list = await caller.call('ListPolicies', {});
    expect(list).toMatchObject({ message: { policies: [{ name: 'login' }, { name: 'both' }] } });
    const one = await caller.call('GetPolicy', { policy: 'both' });
    expect(one).toMatchObject({
      message: { policy: { name: 'both', limits: [{ quota: 3 }, { period: 'day' }] } },
    });
    expect(await caller.call('GetPolicy', { policy: 'x' })).toMatchObject({ code: 5 });
    expect(await caller.call('Peek', { policy: 'x', key: 'k' })).toMatchObject({ code: 5 });
    expect(await caller.call('Peek', { policy: 'login' })).toMatchObject({ code: 3 });
  });

  it('answers on the Unix socket as well', async () => {
    const local = grpcCaller(`unix:${socket}`);
    expect(await local.call('Check', { policy: 'login', key: 'local' })).toMatchObject({
      message: { allowed: true },
    });
    local.close();
  });

  it.each(['policy', 'key'])('refuses a %s that is not UTF-8, and names it', async (field) => {
    const [policy, key] = field === 'key' ? ['login', '\xff'] : ['\xff', 'k'];
    const answer = await caller.call('Check', message(policy, key));
    expect(answer).toMatchObject({
      code: 3,
      details: `${field}: wanted UTF-8`,
      statusDetails: expect.stringContaining('BAD_REQUEST'),
    });
  });

  it('takes the character that stands for wrong bytes as any other', async () => {
    const answer = await caller.call('Check', { policy: 'login', key: '\ufffd' });
    expect(answer).toMatchObject({ message: { key: '\ufffd', allowed: true } });
  });

  it.each([
    ['bytes that are no message', Buffer.from('ffffff', 'hex')],
    ['a text that ends too early', message('login', 'whole').subarray(0, -1)],
    ['a number in place of the policy', Buffer.from('0805', 'hex')],
    [
      'a text in place of the cost',
      Buffer.concat([message('login', 'k'), Buffer.from('1a0101', 'hex')]),
    ],
  ])('answers %s as a bad request, and counts it', async (_what, bytes) => {
    const before = await badRequests(service);
    expect(await caller.call('Check', bytes)).toMatchObject({
      code: 3,
      details: 'wanted a message as in the proto',
      statusDetails: expect.stringContaining('BAD_REQUEST'),
    });
    expect(await badRequests(service)).toBe(before + 1);
  });

  it.each([
    ['Check', '7801'],
    ['Check', '7a0101'],
    ['Peek', '1805'],
    ['Peek', '18057a0101'],
  ])('passes over a field that %s does not have: %s', async (method, more) => {
    const bytes = Buffer.concat([message('login', 'later'), Buffer.from(more, 'hex')]);
    const answer = await caller.call(method, bytes);
    expect(answer).toMatchObject({ message: { key: 'later', allowed: true } });
  });

  it('tells what was given even if it was cut within a character', async () => {
    for (const shift of ['', 'x']) {
      const key = shift + '🙂'.repeat(300);
      expect(await caller.call('Check', { policy: 'login', key })).toMatchObject({
        code: 3,
        details: expect.stringContaining('key: wanted at most 1024 bytes'),
      });
    }
    expect(service.errors).toEqual([]);
  });
});

describe('the Unix socket', () => {
  const free = () => join(mkdtempSync(join(tmpdir(), 'sluice-socket-')), 'grpc.sock');

  it('is taken over if a dead process left it', async () => {
    const path = free();
    const script = `require('net').createServer().listen(process.argv[1], () => console.log('up'))`;
    const dead = spawn(process.execPath, ['-e', script, path]);
    await once(dead.stdout, 'data');
    dead.kill('SIGKILL');
    await once(dead, 'exit');
    expect(existsSync(path)).toBe(true);
    const heir = await startService({ yaml, socket: path });
    const local = grpcCaller(`unix:${path}`);
    expect(await local.call('ListPolicies', {})).toHaveProperty('message');
    local.close();
    await heir.close();
  });

  it('is left alone if somebody listens on it', async () => {
    const path = free();
    const first = createServer().listen(path);
    await once(first, 'listening');
    const refusal = startService({ yaml, socket: path });
    await expect(refusal).rejects.toThrow(`${path} is in use`);
    await expect(refusal).rejects.toBeInstanceOf(SocketError);
    first.close();
  });

  it('is not made where a file is, which stays', async () => {
    const path = free();
    writeFileSync(path, 'precious');
    const refusal = startService({ yaml, socket: path });
    await expect(refusal).rejects.toThrow(`${path} is there already and is no socket`);
    expect(existsSync(path)).toBe(true);
  });

  it('is named where it cannot be', async () => {
    const refusal = startService({ yaml, socket: '/nowhere/grpc.sock' });
    await expect(refusal).rejects.toThrow(/^\/nowhere\/grpc\.sock: /);
    await expect(refusal).rejects.toBeInstanceOf(SocketError);
  });
});

describe('closing', () => {
  it('ends streams, answers the check that is under way, and does not wait for more', async () => {
    const gate = new EventEmitter();
    const outcome: Outcome = { kind: 'failure', reason: 'timeout', cause: 'a test' };
    const store: Store = {
      async decide() {
        gate.emit('asked');
        await once(gate, 'answer');
        return [outcome];
      },
      health: () => ({ up: true, detail: '' }),
      close: async () => {},
    };
    const closing = await startService({ yaml, store });
    const client = new Client(closing.grpc, credentials.createInsecure());
    const definition = loadSync(HEALTH.file, { includeDirs: [HEALTH.folder] });
    const { Watch } = Object(definition[HEALTH.name]);
    const watch = client.makeServerStreamRequest(
      Watch.path,
      Watch.requestSerialize,
      Watch.responseDeserialize,
      { service: '' },
    );
    const ended = new Promise((resolve) => watch.on('error', resolve));
    await once(watch, 'data');
    const local = grpcCaller(closing.grpc);
    const asked = once(gate, 'asked');
    const check = local.call('Check', { policy: 'login', key: 'k' });
    await asked;

    const started = performance.now();
    const closed = closing.close();
    expect(await ended).toMatchObject({ code: 14 });
    gate.emit('answer');
    expect(await check).toMatchObject({ statusDetails: expect.stringContaining('STORE_TIMEOUT') });
    await closed;
    expect(performance.now() - started).toBeLessThan(1000);
    local.close();
    client.close();
  });
});

describe('what every gRPC service has', () => {
  it('health tells of the service and of nothing else', async () => {
    const health = grpcCaller(service.grpc, HEALTH);
    const ask = (name: string) => health.call('Check', { service: name });
    const serving = { message: { status: 'SERVING' } };
    expect(await ask('sluice.v1.RateLimitService')).toEqual(serving);
    expect(await ask('')).toEqual(serving);
    expect(await ask('other')).toMatchObject({ code: 5 });
    health.close();
  });

  it.each(['v1', 'v1alpha'])('reflection %s tells the services', async (version) => {
    const folder = 'node_modules/@grpc/reflection/build/proto';
    const file = `grpc/reflection/${version}/reflection.proto`;
    const definition = loadSync(file, { includeDirs: [folder] });
    const { ServerReflectionInfo: method } = Object(
      definition[`grpc.reflection.${version}.ServerReflection`],
    );
    const client = new Client(service.grpc, credentials.createInsecure());
    const { path, requestSerialize, responseDeserialize } = method;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const answer = new Promise((resolve) => stream.once('data', resolve));
    stream.write({ listServices: '' });
    const names = Object(await answer).listServicesResponse.service;
    expect(names).toContainEqual({ name: 'sluice.v1.RateLimitService' });
    const ended = once(stream, 'status');
    stream.end();
    expect(await ended).toMatchObject([{ code: 0 }]);
    client.close();
  });
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, grpcCaller, post, type Service, startService } from './service.js';

const yaml = `
policies:
  login: { limits: [{ algorithm: fixed-period, quota: 5, period: 1m }] }
  both:
    limits:
      - { name: burst, algorithm: sliding-log, quota: 3, period: 1s }
      - { name: daily, algorithm: fixed-period, quota: 100, period: day }
`;
const socket = join(mkdtempSync(join(tmpdir(), 'sluice-socket-')), 'grpc.sock');
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

  it('takes over a socket that a dead process left, but not one that is in use', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'sluice-socket-')), 'grpc.sock');
    const first = createServer().listen(path);
    await new Promise((resolve) => first.once('listening', resolve));
    await expect(startService({ yaml, socket: path })).rejects.toThrow('in use');
    await new Promise((resolve) => first.close(resolve));
    writeFileSync(path, '');
    const second = await startService({ yaml, socket: path });
    await second.close();
  });
});

describe('what every gRPC service has', () => {
  it('health tells of the service and of nothing else', async () => {
    const health = grpcCaller(service.grpc, {
      folder: 'node_modules/grpc-health-check/proto',
      file: 'health/v1/health.proto',
      name: 'grpc.health.v1.Health',
    });
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
    stream.end();
    client.close();
  });
});

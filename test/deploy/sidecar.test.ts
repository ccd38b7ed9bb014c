import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../kit/service.js';
import { until } from '../kit/until.js';
import { freePort } from '../redis/ports.js';

const FOLDER = 'deploy/kubernetes/overlays/sidecar';

describe('the example application beside which Sluice runs as a sidecar', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sidecar-'));
  const socket = join(folder, 'sluice.sock');
  let sluice: Service | undefined;
  let application: ChildProcess | undefined;
  let url = '';

  beforeAll(async () => {
    sluice = await startService({ yaml: readFileSync(`${FOLDER}/policies.yaml`, 'utf8'), socket });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    application = spawn(process.execPath, [`${FOLDER}/application.mjs`], {
      stdio: 'ignore',
      env: { ...process.env, RATE_LIMITER: `unix:${socket}`, PORT: `${port}` },
    });
    await until('it is healthy', async () => {
      const response = await fetch(`${url}/healthy`).catch(() => undefined);
      return response?.ok;
    });
  });
  afterAll(async () => {
    application?.kill('SIGKILL');
    await sluice?.close();
    rmSync(folder, { recursive: true });
  });

  const ask = (caller: string) => fetch(url, { headers: { 'x-caller': caller } });

  it('lets ten pages a second through for each caller, over the Unix socket', async () => {
    const answers = [];
    for (let i = 0; i < 11; i++) answers.push(await ask('alice'));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect(answers[10]?.headers.get('retry-after')).toBe('1');
    expect((await ask('bob')).status).toBe(200);
  });

  it('ends with 0 on SIGTERM', async () => {
    const ended = new Promise((resolve) => application?.once('exit', resolve));
    application?.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

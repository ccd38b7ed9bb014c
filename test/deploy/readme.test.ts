import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { until } from '../kit/until.js';
import { freePort } from '../redis/ports.js';
import { has, itWith, run } from './tools.js';

/** Each command of a README's consoles with what it printed there. */
function consoles(file: string): [command: string, output: string][] {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```console\n(.*?)^```$/gms)];
  return blocks.flatMap((block) =>
    (block[1] ?? '')
      .split(/^\$ /m)
      .slice(1)
      .map((text): [string, string] => {
        const end = text.indexOf('\n');
        return [text.slice(0, end), text.slice(end + 1)];
      }),
  );
}

describe('deploy/README.md', () => {
  /** The ports of the README, and those that are free here. */
  const ports = new Map<string, number>();
  let stop = async (): Promise<void> => {};

  beforeAll(async () => {
    for (const port of ['8080', '8081', '9090']) ports.set(port, await freePort());
    const service = spawn(process.execPath, ['src/sluice.mjs', 'serve'], {
      stdio: 'ignore',
      env: {
        ...process.env,
        SLUICE_HTTP_PORT: `${ports.get('8080')}`,
        SLUICE_GRPC_PORT: `${ports.get('8081')}`,
        SLUICE_ADMIN_PORT: `${ports.get('9090')}`,
      },
    });
    stop = async () => {
      const ended = once(service, 'exit');
      service.kill('SIGTERM');
      await ended;
    };
    const url = `http://127.0.0.1:${ports.get('9090')}/readyz`;
    await until('it is ready', async () => (await fetch(url).catch(() => undefined))?.ok);
  });
  afterAll(() => stop());

  itWith('curl', has('curl'), 'has commands that print what stands below them', async () => {
    const commands = consoles('deploy/README.md');
    expect(commands.length).toBe(3);
    for (const [command, output] of commands) {
      const here = command.replace(
        /localhost:(\d+)/g,
        (_, port: string) => `127.0.0.1:${ports.get(port)}`,
      );
      const { stdout } = await run(['sh', '-c', here]);
      expect(stdout, command).toBe(output);
    }
  });
});

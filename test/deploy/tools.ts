import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { it } from 'vitest';

export type Command = readonly [program: string, ...args: string[]];

/** How a program ended, and everything that it said. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function run([program, ...args]: Command, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (data: Buffer) => {
        said[name] += data.toString();
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
  });
}

/** Whether PATH has a program. */
export function has(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The Compose client, version 2 or later, as it is called on this machine. */
export function findCompose(): Command | undefined {
  const forms: Command[] = [['docker', 'compose'], ['docker-compose']];
  return forms.find(([program, ...args]) => {
    const { status, stdout } = spawnSync(program, [...args, 'version'], { encoding: 'utf8' });
    return status === 0 && !/version 1\./.test(stdout);
  });
}

/**
 * A test that takes something which not every machine has. Without it the test is skipped and says
 * why, in its name and aloud.
 */
export function itWith<T>(
  what: string,
  found: T | undefined | false,
  name: string,
  test: (found: T) => Promise<void>,
  timeoutMs?: number,
): void {
  if (found !== undefined && found !== false) {
    it(name, () => test(found), timeoutMs);
    return;
  }
  const text = `${name} (skipped: this machine has no ${what})`;
  console.warn(text);
  it.skip(text, () => {});
}

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Runs a program to its end, with what it says on stderr. Throws if it fails; returns its standard output. */
export function run(program, args, options = {}) {
  const { status, stdout, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 2],
    ...options,
  });
  if (error === undefined && status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? `exit ${status}`}`);
}

export function isInstalled(program) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

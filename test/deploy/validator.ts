import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, run } from './tools.js';

export interface Validator {
  kubernetes(folder: string): Promise<Ended>;
  compose(file: string): Promise<Ended>;
  remove(): void;
}

/** What `go build` says where modules cannot be fetched, or where it is too old for them. */
const CANNOT = /dial tcp|no such host|i\/o timeout|proxyconnect|requires go >=|invalid go version/;

/**
 * Builds the Go program of this folder: kustomize, the API server's own validation, and the loader of
 * Compose. Go keeps what it has compiled; the first build on a machine takes minutes. Resolves to a
 * text if this machine cannot.
 */
export async function buildValidator(): Promise<Validator | string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-validate-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const binary = join(folder, 'validate');
  const flags = ['-buildvcs=false', '-ldflags=-s -w', '-o', binary];
  const built = await run(['go', 'build', '-C', 'test/deploy/validate', ...flags, '.']);
  if (built.code !== 0) {
    remove();
    const line = built.stderr.split('\n').find((text) => CANNOT.test(text));
    if (line !== undefined) return line;
    throw new Error(`the validator does not build: ${built.stderr}`);
  }
  return {
    kubernetes: (path) => run([binary, 'kubernetes', path]),
    compose: (file) => run([binary, 'compose', file, 'single']),
    remove,
  };
}

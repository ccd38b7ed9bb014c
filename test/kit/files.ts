import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Creates a temporary folder with these files, by name. The folder is deleted when the running test
 * finishes, so this may be called in tests only.
 */
export function tempFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** Creates a file in a temporary folder of its own. Returns its path. */
export function tempFile(name: string, content: string | Buffer): string {
  return join(tempFolder({ [name]: content }), name);
}

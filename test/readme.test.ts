import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingList } from '../src/config/settings.js';
import { policiesFrom } from './kit/policies.js';
import { type SluiceProcess, startSluice } from './kit/sluice-process.js';

const readme = readFileSync('README.md', 'utf8');

/** The fenced blocks of a language, in order. */
function blocks(language: string): string[] {
  const found = readme.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...found].map((match) => match[1] ?? '');
}

/** Each command line of the README's shell blocks. */
const commands = blocks('sh').flatMap((block) => block.trim().split('\n'));

describe('the README', () => {
  let sluice: SluiceProcess;
  beforeAll(async () => {
    sluice = await startSluice();
  });
  afterAll(() => sluice.signal('SIGKILL'));

  /** Runs a line as a reader would, but against the service of this test. */
  const paste = (line: string): string => {
    const here = line.replaceAll('http://127.0.0.1:8080', sluice.rest);
    return execFileSync('bash', ['-c', here], { encoding: 'utf8' });
  };

  it('begins with the two commands, and the answer that it prints is the real one', () => {
    expect(commands[0]).toBe('npm start');
    const answer = JSON.parse(paste(commands[1] ?? ''));
    const printed = JSON.parse(blocks('json')[0] ?? '');
    expect(answer).toEqual({ ...printed, checkId: expect.stringMatching(/^.{26}$/) });
    expect(Object.keys(answer)).toEqual(Object.keys(printed));
  });

  it('is right that the sixth check is denied', () => {
    const codes = Array.from({ length: 5 }, () => JSON.parse(paste(commands[1] ?? '')).code);
    expect(codes).toEqual(['ALLOWED', 'ALLOWED', 'ALLOWED', 'HIT_QUOTA', 'OVER_QUOTA']);
  });

  it('has commands that all work', () => {
    const others = commands.slice(2).map((line) => [line.split(' ')[0], paste(line)]);
    expect(others.map(([program]) => program)).toEqual(['npx', 'curl', 'curl']);
    const [replay, peek, denied] = others.map(([, output]) => output ?? '');
    expect(replay).toContain('checks      10000');
    expect(JSON.parse(peek ?? '')).toMatchObject({ key: 'user-2', remaining: 5 });
    expect(denied).toBe('429\n');
    const validated = spawnSync('npx', ['sluice', 'validate', 'config/policies'], {
      encoding: 'utf8',
    });
    expect([validated.status, validated.stderr]).toEqual([0, '']);
  }, 60_000);

  it('shows policies that are right', () => {
    for (const yaml of blocks('yaml'))
      expect([...policiesFrom(yaml).keys()]).toEqual(['sms', 'search']);
  });

  it('lists every setting there is, from the schema', () => {
    const rows = settingList.map(
      ({ flag, variable, path, fallback, description }) =>
        `| \`--${flag}\` | \`${variable}\` | \`${path.join('.')}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${description} |`,
    );
    const table = ['| flag | variable | YAML | default | |', '|---|---|---|---|---|', ...rows].join(
      '\n',
    );
    const printed = /<!-- settings[^>]*-->\n([\s\S]*?)\n?<!-- \/settings -->/.exec(readme)?.[1];
    if (printed !== table) {
      // For whoever changed a setting: the table to paste.
      const file = join(mkdtempSync(join(tmpdir(), 'sluice-readme-')), 'settings.md');
      writeFileSync(file, `${table}\n`);
      expect(printed, `the table should be as in ${file}`).toBe(table);
    }
  });

  it('links to files that are there', () => {
    for (const [, target = ''] of readme.matchAll(/\]\((?!http)([^)#]+)\)/g)) {
      expect(() => readFileSync(target)).not.toThrow();
    }
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { algorithms } from '../src/algorithm/registry.js';

const files = readdir('src').filter((file) => file.endsWith('.ts'));

function readdir(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (file) => `${folder}/${file}`,
  );
}

/** What a file imports: project files as paths below src, packages and built-ins by name. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(/(?:^|\n)(?:import|export)[^'";]*?from '([^']+)'|import\('([^']+)'\)/g),
  ];
  return found.map((match) => {
    const name = match[1] ?? match[2] ?? '';
    return name.startsWith('.')
      ? relative('src', join(dirname(file), name)).replace(/\.js$/, '')
      : name;
  });
}

/** The part of the product that a file belongs to: its folder, or its own name at the top. */
function partOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? path) : path;
}

/** Which parts each part may import. main wires everything. */
const ALLOWED: Record<string, string[]> = {
  algorithm: [],
  clock: [],
  diagnostics: [],
  domain: ['algorithm'],
  errors: ['diagnostics', 'domain'],
  config: ['diagnostics'],
  policy: ['algorithm', 'diagnostics', 'domain'],
  store: ['algorithm', 'clock', 'config', 'domain'],
  limiter: ['diagnostics', 'domain', 'policy', 'store'],
  telemetry: ['config', 'domain', 'limiter', 'store'],
  transport: ['diagnostics', 'domain', 'errors', 'limiter'],
  replay: ['clock', 'diagnostics', 'domain', 'policy', 'store'],
  cli: ['config', 'diagnostics', 'domain'],
};

/** Who alone may import a package, or read something there is one place for. */
const ALONE: [what: string, pattern: RegExp, files: RegExp][] = [
  ['ioredis', /from 'ioredis'/, /^src\/store\/redis\//],
  ['fastify', /from 'fastify'/, /^src\/transport\//],
  ['grpc-js', /from '@grpc\//, /^src\/transport\/grpc\//],
  ['the environment', /process\.env/, /^src\/config\//],
  ['the clock', /Date\.now|new Date\(\)/, /^src\/(?:clock|transport\/wire\/ids)\.ts$/],
  ['ending the process', /process\.exit\(/, /^src\/main\.ts$/],
  [
    'a concrete store',
    /createMemoryStore|createRedisStore/,
    /^src\/(?:main|store\/(?:memory\/memory|redis\/redis))\.ts$/,
  ],
];

describe('the structure', () => {
  it.each(files)('%s imports only what its part may know', (file) => {
    const part = partOf(relative('src', file).replace(/\.ts$/, ''));
    if (part === 'main') return;
    const known = new Set([part, ...(ALLOWED[part] ?? [])]);
    const foreign = importsOf(file)
      .filter((name) => !name.startsWith('node:') && files.includes(`src/${name}.ts`))
      .filter((name) => !known.has(partOf(name)));
    expect(foreign).toEqual([]);
    expect(ALLOWED).toHaveProperty(part);
  });

  it('no transport imports another', () => {
    const folders = files.flatMap((file) => /^src\/transport\/(\w+)\//.exec(file)?.[1] ?? []);
    expect(new Set(folders)).toEqual(new Set(['admin', 'grpc', 'http', 'wire']));
    for (const file of files) {
      const own = /^src\/transport\/(\w+)\//.exec(file)?.[1];
      if (own === undefined) continue;
      const rooms = importsOf(file).flatMap((name) => /^transport\/(\w+)\//.exec(name)?.[1] ?? []);
      // The admin port is served over HTTP too.
      const known = own === 'admin' ? [own, 'http', 'wire'] : [own, 'wire'];
      expect(rooms.filter((room) => !known.includes(room))).toEqual([]);
    }
  });

  it('of the store, the limiter and what is outside know the interface alone', () => {
    for (const file of files.filter((name) => !/^src\/(?:store\/|main\.ts)/.test(name))) {
      const stores = importsOf(file).filter((name) => name.startsWith('store/'));
      expect(stores.filter((name) => name !== 'store/store')).toEqual([]);
    }
  });

  it.each(ALONE)('%s has one place', (_what, pattern, allowed) => {
    const users = files.filter((file) => pattern.test(readFileSync(file, 'utf8')));
    expect(users.filter((file) => !allowed.test(file))).toEqual([]);
    expect(users).not.toEqual([]);
  });

  it('nothing imports in a circle', () => {
    const done = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) throw new Error([...path, file].join(' -> '));
      if (done.has(file)) return;
      const next = importsOf(file)
        .map((name) => `src/${name}.ts`)
        .filter((name) => files.includes(name));
      for (const other of next) visit(other, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
  });

  it('every algorithm has its Lua beside it', () => {
    const lua = readdir('src/algorithm').filter((file) => file.endsWith('.lua'));
    for (const file of lua) expect(files).toContain(file.replace(/\.lua$/, '.ts'));
    expect(lua.map((file) => file.replace(/.*\/|\.lua$/g, '')).sort()).toEqual(
      algorithms.map(({ name }) => name).sort(),
    );
  });
});

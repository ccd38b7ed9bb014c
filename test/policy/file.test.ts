import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/diagnostics/mistakes.js';
import { loadPolicies } from '../../src/policy/file.js';
import { tempFolder } from '../kit/files.js';

/**
 * Loads one of the files, or all of them if `name` is empty. Returns the lines of its ConfigError,
 * with file names relative to the folder.
 */
function mistakesIn(files: Record<string, string>, name = 'p.yaml'): string[] {
  const folder = tempFolder(files);
  try {
    loadPolicies(name === '' ? folder : join(folder, name));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message
      .split('\n')
      .map((line) => line.replaceAll(`${folder}/`, '').replaceAll(folder, '.'));
  }
  return [];
}

/** The mistakes of one Limit, without the file name and the path of the Limit. */
function limitMistakes(limit: string): string[] {
  const lines = mistakesIn({ 'p.yaml': `policies:\n  p:\n    limits:\n      - ${limit}\n` });
  return lines.map((line) => line.replace(/^p\.yaml:\d+:\d+: policies\.p\.limits\[0\]\.?/, ''));
}

describe('policies', () => {
  it('are loaded from a file, or from all YAML files of a folder', () => {
    const folder = tempFolder({
      'a.yaml': 'policies: { a: { limits: [{ algorithm: fixed-period, quota: 1, period: 1s }] } }',
      'b.yml': 'policies: { b: { limits: [{ algorithm: sliding-log, quota: 1, period: 1s }] } }',
      'c.txt': 'not policies',
    });
    expect([...loadPolicies(folder).keys()]).toEqual(['a', 'b']);
    expect([...loadPolicies(join(folder, 'a.yaml')).keys()]).toEqual(['a']);
  });

  it('of this repository have no mistakes', () => {
    expect([...loadPolicies('config/policies').keys()]).toEqual(['login', 'sms', 'search']);
  });

  it('report many different mistakes at once, each with line, path, what was wanted and what was given', () => {
    const text = `policies:
  one:
    descripton: a slip
    limits:
      - { algorithm: fixed-periods, quota: 5, period: 1m }
      - { algorithm: fixed-period, quota: -1, period: 1m }
      - { algorithm: fixed-period, quota: 5, period: 1 minute, name: a }
      - { algorithm: fixed-period, quota: 5, name: b }
      - { algorithm: fixed-period, quota: 5, period: day, timezone: Mars/Olympus, name: c }
  two:
    limits: []
  three:
    limits:
      - { algorithm: sliding-log, quota: 200000, period: 1d }
      - { algorithm: sliding-log, quota: "5", period: day, align: clock, name: d }
  "bad name":
    limits: 5/m
`;
    expect(mistakesIn({ 'p.yaml': text })).toEqual([
      'p.yaml:3:5: policies.one.descripton: unknown field (did you mean description?); wanted one of description, limits',
      'p.yaml:5:11: policies.one.limits[0].algorithm: wanted sliding-log or fixed-period, got "fixed-periods" (did you mean fixed-period?)',
      'p.yaml:6:36: policies.one.limits[1].quota: wanted at least 0, got -1',
      'p.yaml:7:46: policies.one.limits[2].period: wanted a duration like 500ms, 10s, 1m30s, 1h or 7d, or one of day, week, month, year, got "1 minute"',
      'p.yaml:8:9: policies.one.limits[3].period: wanted a duration like 500ms, 10s, 1m30s, 1h or 7d, or one of day, week, month, year, got nothing',
      'p.yaml:9:59: policies.one.limits[4].timezone: wanted an IANA name like Europe/Madrid, UTC, or an offset like +05:30, got "Mars/Olympus"',
      'p.yaml:11:5: policies.two.limits: wanted a list of at least 1 item, got []',
      'p.yaml:14:35: policies.three.limits[0].quota: wanted at most 100000: a sliding-log remembers every unit (about 120 bytes each); use fixed-period for larger quotas, got 200000',
      'p.yaml:15:35: policies.three.limits[1].quota: wanted a number, got "5"',
      'p.yaml:15:47: policies.three.limits[1].period: wanted a duration like 500ms, 10s, 1m30s, 1h or 7d, got "day"',
      'p.yaml:15:60: policies.three.limits[1].align: unknown field; wanted one of name, algorithm, countDenied, quota, period',
      'p.yaml:16:3: policies.bad name: wanted a name of 1 to 128 letters, digits and . _ : / @ -, beginning with a letter or digit',
      'p.yaml:17:5: policies.bad name.limits: wanted a list, got "5/m"',
    ]);
  });

  it('C154: reject a field given twice, a name given twice, and a policy in two files', () => {
    const limit = '{ algorithm: fixed-period, quota: 1, period: 1s }';
    expect(
      mistakesIn({
        'p.yaml':
          'policies: { p: { limits: [{ algorithm: fixed-period, quota: 5, quota: 10, period: 1s }] } }',
      }),
    ).toEqual(['p.yaml:1:64: the field quota is given twice in one map; wanted once']);
    expect(
      mistakesIn({
        'p.yaml': `policies:\n  p: { limits: [${limit}] }\n  p: { limits: [${limit}] }\n`,
      }),
    ).toEqual(['p.yaml:3:3: the field p is given twice in one map; wanted once']);
    expect(
      mistakesIn(
        {
          'a.yaml': `policies: { p: { limits: [${limit}] } }`,
          'b.yaml': `policies: { p: { limits: [${limit}] } }`,
        },
        '',
      ),
    ).toEqual(['b.yaml:1:13: policies.p: this policy is already defined in a.yaml; wanted once']);
    expect(mistakesIn({ 'p.yaml': `policies: { p: { limits: [${limit}, ${limit}] } }` })).toEqual([
      'p.yaml:1:78: policies.p.limits[1]: another limit of this policy is also named p; wanted a unique name for each limit',
    ]);
  });

  it('report a field given twice together with the other mistakes of its file', () => {
    const text = `policies:
  p:
    limits: [{ algorithm: fixed-period, quota: 5, quota: -1, period: 1s }]
  q: 5
`;
    expect(mistakesIn({ 'p.yaml': text })).toEqual([
      'p.yaml:3:51: the field quota is given twice in one map; wanted once',
      'p.yaml:3:51: policies.p.limits[0].quota: wanted at least 0, got -1',
      'p.yaml:4:3: policies.q: wanted a map of fields, got 5',
    ]);
  });

  it('reject an alias inside the limits that it refers to', () => {
    expect(
      mistakesIn({ 'p.yaml': 'policies:\n  p:\n    limits: &a\n      - limits: *a\n' }),
    ).toEqual(['p.yaml:4:17: the alias *a refers to a node that contains it']);
  });

  it('list the known fields only once for all unknown fields of a map', () => {
    expect(mistakesIn({ 'p.yaml': 'policies: { p: { a: 1, b: 2, limits: 1 } }' })).toEqual([
      'p.yaml:1:30: policies.p.limits: wanted a list, got 1',
      'p.yaml:1:18: policies.p.a: unknown field; wanted one of description, limits',
      'p.yaml:1:24: policies.p.b: unknown field',
    ]);
  });

  it.each([
    ['{ algorithm: [fixed-period] }', 'got ["fixed-period"]'],
    ['{ algorithm: [[fixed-period]] }', 'got a list of 1 item'],
    ['{ algorithm: { a: {} } }', 'got a map of fields'],
    [`{ algorithm: [${'1, '.repeat(100)}] }`, 'got a list of 100 items'],
    [`{ algorithm: ${'x'.repeat(100)} }`, `got "${'x'.repeat(56)}...`],
  ])('shorten a long value in messages: %.40s', (limit, got) => {
    expect(limitMistakes(limit)).toEqual([`algorithm: wanted sliding-log or fixed-period, ${got}`]);
  });

  it.each([
    ['{ algorithm: fixed-period, quota: 5 }', 'period: wanted a duration'],
    ['{ algorithm: fixed-period, period: 1m }', 'quota: wanted a number, got nothing'],
    ['{ quota: 5, period: 1m }', 'algorithm: wanted sliding-log or fixed-period, got nothing'],
  ])('C155: reject a limit that lacks a field: %s', (limit, mistake) => {
    expect(limitMistakes(limit)[0]).toContain(mistake);
  });

  it.each([
    ['"5/m"', ': wanted a map of fields, got "5/m"'],
    ['{ algorithm: fixed-period, quota: "5", period: 1m }', 'quota: wanted a number, got "5"'],
    [
      '{ algorithm: fixed-period, quota: 5.5, period: 1m }',
      'quota: wanted a whole number below 2^53, got 5.5',
    ],
    ['{ algorithm: fixed-period, quota: true, period: 1m }', 'quota: wanted a number, got true'],
    ['{ algorithm: fixed-period, quota: 5, period: 60 }', 'period: wanted a duration'],
    ['{ algorithm: fixed-period, quota: 5, period: "60" }', 'period: wanted a duration'],
    [
      '{ algorithm: fixed-period, quota: 5, period: 0s }',
      'period: wanted a duration from 1ms to 3650d',
    ],
    ['{ algorithm: fixed-period, quota: 5, period: 1s1m }', 'period: wanted a duration'],
    [
      '{ algorithm: fixed-period, quota: 5, period: 1m, countDenied: yes }',
      'countDenied: wanted true or false, got "yes"',
    ],
  ])('C159: reject a wrong type at load: %s', (limit, mistake) => {
    expect(limitMistakes(limit).join()).toContain(mistake);
  });

  it('C084: reject a period above ten years and name the maximum', () => {
    const [mistake] = limitMistakes('{ algorithm: fixed-period, quota: 1, period: 12622780800s }');
    expect(mistake).toContain('a duration from 1ms to 3650d (ten years, the maximum)');
    expect(limitMistakes('{ algorithm: fixed-period, quota: 1, period: 400y }')).toHaveLength(1);
    expect(limitMistakes('{ algorithm: fixed-period, quota: 1, period: 3650d }')).toEqual([]);
  });

  it('C086: reject a quota that a number cannot represent exactly', () => {
    expect(
      limitMistakes('{ algorithm: fixed-period, quota: 9007199254740993, period: 1h }'),
    ).toHaveLength(1);
    expect(
      limitMistakes('{ algorithm: fixed-period, quota: 9007199254740991, period: 1h }'),
    ).toEqual([]);
  });

  it('reject fields without effect: a zone without aligned periods, an alignment of a calendar period', () => {
    expect(
      limitMistakes('{ algorithm: fixed-period, quota: 1, period: 1h, timezone: UTC }'),
    ).toEqual([
      'timezone: wanted only with align: clock or a calendar period, since elapsed time has no zone, got "UTC"',
    ]);
    const [mistake] = limitMistakes(
      '{ algorithm: fixed-period, quota: 1, period: day, align: first-check }',
    );
    expect(mistake).toContain('align: wanted clock or nothing');
  });

  it('report mistakes across fields together with the others', () => {
    expect(
      limitMistakes('{ algorithm: fixed-period, quota: -1, period: 1h, timezone: UTC }'),
    ).toHaveLength(2);
  });

  it.each([
    ['', 'wanted a map of fields, got null'],
    ['[]', 'wanted a map of fields, got []'],
    ['policies: {}', 'wanted 1 to 10000 policies, got 0'],
    ['policies: { p: null }', 'policies.p: wanted a map of fields, got null'],
    ['policies: [', ''],
    ['policies:\n\t- x', ''],
    [
      'a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\npolicies: [*c, *c, *c, *c, *c, *c, *c, *c, *c]',
      'alias',
    ],
  ])('reject a file that does not contain policies: %.20j', (text, mistake) => {
    expect(mistakesIn({ 'p.yaml': text }).join('\n')).toContain(mistake);
    expect(mistakesIn({ 'p.yaml': text })).not.toEqual([]);
  });

  it('report a missing file and a folder without YAML files', () => {
    expect(mistakesIn({}, 'none.yaml')[0]).toContain('none.yaml: cannot read policies: ENOENT');
    expect(mistakesIn({ 'c.txt': '' }, '')).toEqual([
      '.: no policies: wanted a folder with .yaml or .yml files',
    ]);
  });

  it('may have the names of object properties, except __proto__', () => {
    const limit = '{ algorithm: fixed-period, quota: 1, period: 1s }';
    const folder = tempFolder({
      'p.yaml': `policies:\n  constructor: { limits: [${limit}] }\n  toString: { limits: [${limit}] }\n`,
    });
    expect([...loadPolicies(folder).keys()]).toEqual(['constructor', 'toString']);
    expect(
      mistakesIn({ 'p.yaml': `policies:\n  __proto__: { limits: [${limit}] }\n` }),
    ).not.toEqual([]);
  });
});

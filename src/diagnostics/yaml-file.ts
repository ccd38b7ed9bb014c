import { readFileSync, statSync } from 'node:fs';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { messageOf } from './issues.js';
import { ConfigError, formatPath, type Mistake } from './mistakes.js';

const MAX_BYTES = 4 * 1024 * 1024;
/** Stops a small file from expanding into gigabytes of data. */
const MAX_ALIASES = 100;

/** The data of a YAML file, and the positions of its fields. */
export interface YamlFile {
  name: string;
  data: unknown;
  /** Fields that are given twice. The file can still be read; the last value counts. */
  mistakes: Mistake[];
  /** Returns a mistake that names the line and column of `path`. */
  mistake(path: readonly PropertyKey[], message: string): Mistake;
}

/** Reads a YAML file. Throws a ConfigError with every mistake if the file has no usable data. */
export function readYamlFile(name: string): YamlFile {
  let text: string;
  try {
    const { size } = statSync(name);
    if (size > MAX_BYTES) throw new Error(`wanted at most ${MAX_BYTES} bytes, got ${size}`);
    text = readFileSync(name, 'utf8');
  } catch (error) {
    const message = `cannot read the file: ${messageOf(error)}`;
    throw new ConfigError([{ where: name, path: '', message }]);
  }
  return parseYaml(name, text);
}

function parseYaml(name: string, text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' });
  const position = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };

  const problems = [...document.errors, ...document.warnings];
  const mistakes = problems.map(({ pos: [offset], code, message }) => ({
    where: position(offset),
    path: '',
    message: code === 'DUPLICATE_KEY' ? givenTwice(text, offset) : message,
  }));
  if (problems.some(({ code }) => code !== 'DUPLICATE_KEY')) throw new ConfigError(mistakes);

  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new ConfigError([...mistakes, { where: name, path: '', message: messageOf(error) }]);
  }
  const circular = findCircularAlias(document);
  if (circular !== undefined) {
    const where = position(circular.offset);
    const message = `the alias *${circular.name} refers to a node that contains it`;
    throw new ConfigError([...mistakes, { where, path: '', message }]);
  }
  return {
    name,
    data,
    mistakes,
    mistake: (path, message) => ({
      where: position(offsetOf(document, path)),
      path: formatPath(path),
      message,
    }),
  };
}

function givenTwice(text: string, offset: number): string {
  const field = /[^:\s]*/.exec(text.slice(offset))?.[0];
  return `the field ${field} is given twice in one map; wanted once`;
}

/** Returns the offset of the deepest node that exists on a path. For a field, it is its name's. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let offset = isNode(document.contents) ? (document.contents.range?.[0] ?? 0) : 0;
  for (let depth = 1; depth <= path.length; depth++) {
    const parent = depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
    const part = path[depth - 1];
    if (isMap(parent)) {
      const pair = parent.items.findLast(({ key }) => isScalar(key) && String(key.value) === part);
      if (pair !== undefined && isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    } else {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    }
  }
  return offset;
}

/** Returns the first alias that refers to one of its own ancestors. */
function findCircularAlias(
  document: Document.Parsed,
): { name: string; offset: number } | undefined {
  let circular: { name: string; offset: number } | undefined;
  visit(document, {
    Alias(_, alias, ancestors) {
      const target = alias.resolve(document);
      if (target === undefined || !ancestors.includes(target)) return undefined;
      circular = { name: alias.source, offset: alias.range?.[0] ?? 0 };
      return visit.BREAK;
    },
  });
  return circular;
}

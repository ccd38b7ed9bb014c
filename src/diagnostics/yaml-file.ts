import { readFileSync, statSync } from 'node:fs';
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { messageOf } from './issues.js';
import { ConfigError, formatPath, type Mistake } from './mistakes.js';

const MAX_BYTES = 4 * 1024 * 1024;

/** A YAML file's data, and where in the file a path of it stands. */
export interface YamlFile {
  name: string;
  data: unknown;
  /** Fields given twice: the rest of the file can be read all the same, the last of them counts. */
  mistakes: Mistake[];
  mistake(path: readonly PropertyKey[], message: string): Mistake;
}

/** Reads a YAML file. Throws a ConfigError with all mistakes because of which there is no data. */
export function readYamlFile(name: string): YamlFile {
  let text: string;
  try {
    const { size } = statSync(name);
    if (size > MAX_BYTES) throw new Error(`${size} bytes, wanted at most ${MAX_BYTES}`);
    text = readFileSync(name, 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    throw new ConfigError([{ where: name, path: '', message: `cannot read it: ${reason}` }]);
  }
  return parseYaml(name, text);
}

function parseYaml(name: string, text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const problems = [...document.errors, ...document.warnings];
  const mistakes = problems.map(({ pos, message, code }) => ({
    where: place(pos[0]),
    path: '',
    message:
      code === 'DUPLICATE_KEY'
        ? `the field ${/[^:\s]*/.exec(text.slice(pos[0]))?.[0]} is given twice in one map; wanted once`
        : message,
  }));
  if (problems.some(({ code }) => code !== 'DUPLICATE_KEY')) throw new ConfigError(mistakes);

  /** The offset of the deepest node on the path; of a field, its name. */
  const offsetOf = (path: readonly PropertyKey[]): number => {
    let offset = isNode(document.contents) ? (document.contents.range?.[0] ?? 0) : 0;
    for (let depth = 1; depth <= path.length; depth++) {
      const parent =
        depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
      const part = path[depth - 1];
      if (isMap(parent)) {
        const pair = parent.items.findLast(
          ({ key }) => isScalar(key) && String(key.value) === part,
        );
        if (pair !== undefined && isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      } else {
        const node = document.getIn(path.slice(0, depth), true);
        if (isNode(node)) offset = node.range?.[0] ?? offset;
      }
    }
    return offset;
  };

  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const reason = messageOf(error);
    throw new ConfigError([...mistakes, { where: name, path: '', message: reason }]);
  }
  visit(document, {
    Alias(_, alias, path) {
      const target = alias.resolve(document);
      if (target === undefined || !path.includes(target)) return;
      const message = `*${alias.source} stands inside of what it means; wanted no circle`;
      throw new ConfigError([
        ...mistakes,
        { where: place(alias.range?.[0] ?? 0), path: '', message },
      ]);
    },
  });
  return {
    name,
    data,
    mistakes,
    mistake: (path, message) => ({ where: place(offsetOf(path)), path: formatPath(path), message }),
  };
}

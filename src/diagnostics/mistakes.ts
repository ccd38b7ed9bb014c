/** One thing wrong in a file or a setting: where, what was given, what was wanted. */
export interface Mistake {
  /** A file's name with line and column, a variable or a flag. */
  where: string;
  /** Inside of it: `policies.login.limits[0].quota`; empty for the whole. */
  path: string;
  message: string;
}

/** Thrown with every mistake there is, never with the first one alone. */
export class ConfigError extends Error {
  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map(formatMistake).join('\n'));
    this.name = 'ConfigError';
  }
}

function formatMistake({ where, path, message }: Mistake): string {
  return [where, path, message].filter((part) => part !== '').join(': ');
}

/** `['limits', 0, 'quota']` as `limits[0].quota`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** One mistake in a file or a setting. */
export interface Mistake {
  /** A file name with line and column, a variable or a flag; empty if the setting was not given. */
  where: string;
  /** The path inside the file, like `policies.login.limits[0].quota`; empty for the whole file. */
  path: string;
  /** What was wanted and what was given. */
  message: string;
}

/** Reports every mistake of the input, not only the first one. Its message has one per line. */
export class ConfigError extends Error {
  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map(formatMistake).join('\n'));
    this.name = 'ConfigError';
  }
}

function formatMistake({ where, path, message }: Mistake): string {
  return [where, path, message].filter((part) => part !== '').join(': ');
}

/** Formats `['limits', 0, 'quota']` as `limits[0].quota`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

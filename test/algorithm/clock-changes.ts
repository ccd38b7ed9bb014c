const DAY = 86_400_000;

export const FROM = Date.UTC(1970, 0, 1);
export const TO = Date.UTC(2038, 0, 1);

/** The local date and time of an instant, and the offset in it, straight from Intl. */
export interface Wall {
  date(at: number): string;
  /** Milliseconds. */
  offset(at: number): number;
}

export function wallOf(timeZone: string): Wall {
  // Swedes write dates and times as ISO does, but for a space.
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  const time = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return {
    date: (at) => date.format(at),
    offset: (at) => Date.parse(`${time.format(at)}Z`) - Math.floor(at / 1000) * 1000,
  };
}

/** The instants from 1970 to 2037 at which the clocks of a zone change: five days are looked over at a time. */
export function clockChanges({ offset }: Wall): number[] {
  const changes: number[] = [];
  let [at, before] = [FROM, offset(FROM)];
  while (at < TO) {
    const next = at + 5 * DAY;
    const after = offset(next);
    if (after === before) {
      at = next;
      continue;
    }
    let [low, high] = [at, next];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    changes.push(high);
    [at, before] = [high, offset(high)];
  }
  return changes;
}

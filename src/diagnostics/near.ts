import { distance } from 'fastest-levenshtein';

/** Anybody may ask for what does not exist; finding what is near must stay cheap. */
const MAX_CANDIDATES = 1000;

/** The names most like `name`, the nearest first: at most three, and none that is another word. */
export function nearNames(name: string, names: Iterable<string>): string[] {
  const most = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3));
  const found: { candidate: string; edits: number }[] = [];
  let seen = 0;
  for (const candidate of names) {
    if (++seen > MAX_CANDIDATES) break;
    // A length apart already costs as many edits; do not measure what cannot be near.
    if (Math.abs(candidate.length - name.length) > most) continue;
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= most) found.push({ candidate, edits });
  }
  return found
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** ` (did you mean x or y?)`, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  return orNear(nearNames(name, names));
}

/** The same of names that were found before. */
export function orNear(near: readonly string[]): string {
  return near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`;
}

import { distance } from 'fastest-levenshtein';

/** Bounds the work: any caller may ask for a name that does not exist. */
const MAX_CANDIDATES = 1000;
const MAX_NEAR = 3;

/**
 * Returns the names that `name` may be a misspelling of, the nearest first: at most three, and only
 * names within a few edits (one for a short name, else two or a third of its length).
 */
export function nearNames(name: string, names: Iterable<string>): string[] {
  const maxEdits = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3));
  const near: { candidate: string; edits: number }[] = [];
  let compared = 0;
  for (const candidate of names) {
    if (++compared > MAX_CANDIDATES) break;
    // Each character of difference in length costs an edit, so these are too far without measuring.
    if (Math.abs(candidate.length - name.length) > maxEdits) continue;
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= maxEdits) near.push({ candidate, edits });
  }
  return near
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_NEAR)
    .map(({ candidate }) => candidate);
}

/** Returns ` (did you mean x or y?)` if `names` has names near `name`, else an empty string. */
export function didYouMean(name: string, names: Iterable<string>): string {
  return orNear(nearNames(name, names));
}

/** Returns ` (did you mean x or y?)` for the results of `nearNames`, or an empty string for none. */
export function orNear(near: readonly string[]): string {
  return near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`;
}

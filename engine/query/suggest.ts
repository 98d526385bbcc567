// The known name that a refused one may stand for: nearest by edit distance, within a third of the name's length. Runs
// only where strict mode refuses a parameter.
import { distance } from 'fastest-levenshtein';

/**
 * How many unknown names of one kind get a suggestion: a person reads no more, and each costs an edit distance to every
 * key of the collection.
 */
export const SUGGESTIONS_MAX = 20;

/**
 * The names that may be suggested: fields take what followed the refused name (a path, a lookup, `!`), others stand
 * alone.
 */
export interface KnownNames {
  readonly fields: readonly string[];
  readonly others: readonly string[];
}

/**
 * The key that `key` may stand for, or undefined. A key is unknown by its first name, so that only this one is compared
 * and the rest is kept: `publicationStatus__in` gives `publicationState__in`. The first of several nearest names wins,
 * fields before others. Cost: known names of a like length times both lengths, so none for a very long name. Source:
 * A28.
 */
export function nearestKey(key: string, known: KnownNames): string | undefined {
  const end = key.search(/__|!$/);
  const name = end < 0 ? key : key.slice(0, end);
  const rest = key.slice(name.length);
  const nearest = nearestName(name, rest === '' ? [...known.fields, ...known.others] : known.fields);
  return nearest === undefined ? undefined : nearest + rest;
}

/**
 * The known name nearest to `name`, the first of several, or undefined; none for a name that is known itself, where
 * something else is wrong. Cost: as above. Source: A28.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const most = Math.floor(name.length / 3);
  let best = { name: '', edits: most + 1 };
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > most) continue;
    const edits = distance(name, candidate);
    if (edits === 0) return undefined;
    if (edits < best.edits) best = { name: candidate, edits };
  }
  return best.edits > most ? undefined : best.name;
}

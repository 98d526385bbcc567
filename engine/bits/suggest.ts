// Suggests a known name for an unknown one: the nearest by edit distance. Runs only if a request is rejected.

/**
 * The number of unknown names of one query that get a suggestion. A person reads no more, and each costs an edit
 * distance to every key of the collection.
 */
export const SUGGESTIONS_MAX = 20;

export interface KnownNames {
  /** May be followed by the rest of the rejected key: a path, a lookup, or `!`. */
  readonly fields: readonly string[];
  /** Only match a whole key. */
  readonly others: readonly string[];
}

/**
 * The key that `key` may be a typing error for, or undefined. Only its first name is compared, and the rest is kept:
 * `publicationStatus__in` gives `publicationState__in`. The first of several nearest names wins, fields before others.
 * Cost: the known names of similar length times both lengths, so nothing for a very long name. Source: A28.
 */
export function nearestKey(key: string, known: KnownNames): string | undefined {
  const end = key.search(/__|!$/);
  const name = end < 0 ? key : key.slice(0, end);
  const rest = key.slice(name.length);
  const nearest = nearestName(name, rest === '' ? [...known.fields, ...known.others] : known.fields);
  return nearest === undefined ? undefined : nearest + rest;
}

/**
 * Limit of one search: the product of both lengths for each compared name, and 1 for each skipped name. It covers some
 * 200 known names of ordinary length, more than any collection of the specification has. A collection may have 100,000.
 */
const COMPARED_CELLS_MAX = 50_000;

/**
 * The known name nearest to `name`, the first of several. Returns undefined if none is near, or if `name` itself is
 * known, because then the name is not the error. Cost: as `nearestKey`; if there are very many known names, only the
 * first ones are compared. Source: A28.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const most = Math.floor(name.length / 3);
  let best = { name: '', edits: most + 1 };
  let cells = 0;
  for (const candidate of known) {
    const isNear = Math.abs(candidate.length - name.length) <= most;
    if ((cells += isNear ? candidate.length * name.length : 1) > COMPARED_CELLS_MAX) break;
    if (!isNear) continue;
    const edits = slipsBetween(name, candidate);
    if (edits === 0) return undefined;
    if (edits < best.edits) best = { name: candidate, edits };
  }
  return best.edits > most ? undefined : best.name;
}

/** Only this many characters of an unknown name are compared. */
const COMPARED_CHARACTERS_MAX = 64;

/**
 * The known name nearest to an unknown one, at any distance; the first of several. Cost: one edit distance per known
 * name.
 */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const compared = name.slice(0, COMPARED_CHARACTERS_MAX);
  const slips = known.map((name) => slipsBetween(compared, name));
  return known[slips.indexOf(Math.min(...slips))];
}

/**
 * The edit distance of two texts: insertions, deletions, substitutions and swaps of neighbours, with no place edited
 * twice (optimal string alignment). Cost: the product of both lengths.
 */
export function slipsBetween(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const slips = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      row.push(isExchanged ? Math.min(slips, beforeLast[j - 2]! + 1) : slips);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

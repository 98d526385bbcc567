// The known name that an unknown one may stand for: the nearest by one edit distance, whoever mistyped it. Pure; runs
// only where something is refused.

/**
 * How many unknown names of one query get a suggestion: a person reads no more, and each costs an edit distance to
 * every key of the collection.
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
 * Both lengths of names that are compared with one, multiplied, in all, and one for each that is looked at: some 200
 * known names of ordinary length, more than any collection of the specification has. A collection may have 100,000.
 */
const COMPARED_CELLS_MAX = 50_000;

/**
 * The known name nearest to `name`, the first of several, or undefined; none for a name that is known itself, where
 * something else is wrong. Cost: as above, for the first known names alone where there are very many. Source: A28.
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

/** Of a longer name no more is compared. */
const COMPARED_CHARACTERS_MAX = 64;

/** The known name nearest to an unknown one, however far, the first of several. Cost: a distance to each. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const compared = name.slice(0, COMPARED_CHARACTERS_MAX);
  const slips = known.map((one) => slipsBetween(compared, one));
  return known[slips.indexOf(Math.min(...slips))];
}

/**
 * How many slips lead from one text to the other: a letter left out, put in or replaced, or two neighbours exchanged,
 * with nothing done twice to one place (optimal string alignment). Cost: both lengths, multiplied.
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

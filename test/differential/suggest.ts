// The oracle's suggestions for unknown names, by a plain table of edit distances.

/** How many unknown names of one kind get a suggestion. */
export const SUGGESTED = 20;

/**
 * A sentence with the nearest known name within a third of the unknown one's length, with the lookup kept; the first of
 * equals; empty without one, and where the name is known itself.
 */
export function suggestion(key: string, known: readonly string[], controls: readonly string[]): string {
  const end = key.search(/__|!$/);
  const name = end < 0 ? key : key.slice(0, end);
  const rest = key.slice(name.length);
  const candidates = known.filter((candidate) => rest === '' || !controls.includes(candidate));
  return suggestedName(name, candidates, rest);
}

/** The same for a name of its own, with `rest` behind the known one. */
export function suggestedName(name: string, known: readonly string[], rest = ''): string {
  if (known.includes(name)) return '';
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= name.length / 3)
    .sort((a, b) => a.distance - b.distance)[0];
  return near ? ` Did you mean "${near.candidate}${rest}"?` : '';
}

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}

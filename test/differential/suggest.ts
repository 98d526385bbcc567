// The oracle's suggestions for unknown names, by a plain table of edit distances.
import { PARAMETER_HABITS } from '../../engine/query/habits.ts';

/** Maximum of unknown names of one kind that get a suggestion. */
export const SUGGESTED = 20;

/**
 * The remark about an unknown name: its probable meaning, else the counterpart of a parameter of other services, else
 * the nearest known name, else one about ids if the view is a list (it has an `idField`).
 */
export function saidOfUnknown(
  name: string,
  names: {
    readonly known: readonly string[];
    readonly controls: readonly string[];
    readonly idField: string | undefined;
    readonly meant: string | undefined;
  },
): readonly string[] {
  const { known, controls, idField, meant } = names;
  if (meant !== undefined) return [`Unknown parameter. Did you mean "${meant}"?`];
  const plain = (each: string): string => each.replace(/\[\]$/, '').split(/[-_]/).join('').toLowerCase();
  const isNamed = (each: string): boolean => plain(each) === plain(name);
  const habit = PARAMETER_HABITS.find((each) => each.names.some(isNamed));
  if (habit && idField !== undefined) return ['Unknown parameter.', `Write it as "${habit.form}".`];
  const near = suggestion(name, known, controls);
  if (near !== '' || idField === undefined) return [`Unknown parameter.${near}`];
  for (const alias of ['id', 'pk']) {
    const isAlias = name === alias || name === `${alias}!` || name.startsWith(`${alias}__`);
    if (isAlias && known.includes(idField))
      return [`Unknown parameter. Did you mean "${idField}${name.slice(alias.length)}"?`];
  }
  return ['Unknown parameter.'];
}

/**
 * A sentence with the nearest known name within a third of the unknown one's length, with the lookup kept. The first of
 * equally near names; empty without one, and if the name itself is known.
 */
export function suggestion(key: string, known: readonly string[], controls: readonly string[]): string {
  const end = key.search(/__|!$/);
  const name = end < 0 ? key : key.slice(0, end);
  const rest = key.slice(name.length);
  const candidates = known.filter((candidate) => rest === '' || !controls.includes(candidate));
  return suggestedName(name, candidates, rest);
}

/** The same for a name without lookup; `rest` is appended to the known one. */
export function suggestedName(name: string, known: readonly string[], rest = ''): string {
  if (known.includes(name)) return '';
  const near = known
    .filter((candidate) => Math.abs(candidate.length - name.length) <= name.length / 3)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= name.length / 3)
    .sort((a, b) => a.distance - b.distance)[0];
  return near ? ` Did you mean "${near.candidate}${rest}"?` : '';
}

/** Insertions, deletions, replacements and exchanges of neighbours, by the definition: from the ends of both texts. */
function editDistance(a: string, b: string): number {
  const known = new Map<string, number>();
  const between = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = `${i} ${j}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const ways = [
      between(i - 1, j) + 1,
      between(i, j - 1) + 1,
      between(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
    ];
    if (i > 1 && j > 1 && a.slice(i - 2, i) === `${b[j - 1]}${b[j - 2]}`) ways.push(between(i - 2, j - 2) + 1);
    const least = Math.min(...ways);
    known.set(key, least);
    return least;
  };
  return between(a.length, b.length);
}

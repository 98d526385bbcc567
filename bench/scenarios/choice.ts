// Chooses the search terms of the scenarios: a word and a prefix of titles, and a project, each neither too rare nor
// too frequent. Plain counting; the same rows give the same choice.
import type { NaiveCatalogue, NaiveRow } from './naive.ts';
import type { Choice } from './scenario.ts';

/** The design promises contains for 3 characters or more that match at most 4 % of the titles. */
const WORD_CHARACTERS_MIN = 5;
const HITS_PART_MAX = 0.04;
/** Characters of a prefix: about a project name, with which some hundreds of 100,000 titles start. */
const PREFIX_CHARACTERS = 12;
/** A page of matches is enough for a prefix, however few titles there are. */
const PREFIX_HITS = 100;

/**
 * The choice for a catalogue. Throws if no title has a word that is rare enough. Cost: a few passes over the titles.
 */
export function choiceFor(catalogue: NaiveCatalogue): Choice {
  const { rows } = catalogue;
  const most = Math.max(1, Math.floor(rows.length * HITS_PART_MAX));
  const words = commonest(countsOf(rows, wordsOf), most);
  const word = words.find((one) => hitsOf(rows, one) <= most);
  const [prefix] = commonest(countsOf(rows, prefixOf), Math.max(most, PREFIX_HITS));
  if (word === undefined || prefix === undefined) throw new Error('no title has a word or prefix that is rare enough');
  return { catalogue, word, prefix, project: projectOf(catalogue, Math.max(most, PREFIX_HITS)) };
}

/** The project with the most observations among those with at most `most`; the first of equal ones. */
function projectOf({ rows, projects }: NaiveCatalogue, most: number): Choice['project'] {
  const counts = new Map<number, number>();
  for (const id of rows.flatMap((row) => row.projects)) counts.set(id, (counts.get(id) ?? 0) + 1);
  const linked = projects.filter(({ id }) => (counts.get(id) ?? Infinity) <= most);
  return linked.reduce((best, one) => (counts.get(one.id)! > counts.get(best.id)! ? one : best));
}

function wordsOf({ title }: NaiveRow): readonly string[] {
  return [...new Set(title.match(/[a-z]+/g) ?? [])].filter(({ length }) => length >= WORD_CHARACTERS_MIN);
}

/** Values of filters are trimmed, so a prefix must not start or end with a space. */
function prefixOf({ title }: NaiveRow): readonly string[] {
  return /^[A-Za-z][A-Za-z ]*[A-Za-z]$/.test(title.slice(0, PREFIX_CHARACTERS))
    ? [title.slice(0, PREFIX_CHARACTERS)]
    : [];
}

function countsOf(
  rows: readonly NaiveRow[],
  textsOf: (row: NaiveRow) => readonly string[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) for (const text of textsOf(row)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** The texts that at most `most` rows have, by descending frequency, then in the order of their UTF-16 code units. */
function commonest(counts: ReadonlyMap<string, number>, most: number): readonly string[] {
  const rare = [...counts].filter(([, count]) => count <= most);
  return rare.sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([text]) => text);
}

function hitsOf(rows: readonly NaiveRow[], word: string): number {
  return rows.reduce((sum, { title }) => sum + (title.includes(word) ? 1 : 0), 0);
}

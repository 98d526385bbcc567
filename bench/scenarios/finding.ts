// The rows that `search`, `bbox` and `datetime` find, and their order, computed from the plain lines. The words are in
// ASCII, so that lower case folds them.
import type { LinkedCollection, NaiveCatalogue, NaiveRow } from './naive.ts';
import { everyNth } from './questions.ts';

/** Rows by which words are chosen. */
const SAMPLED_ROWS = 2000;
const WORD_LETTERS_MIN = 4;

/** The most frequent two words that at most this part of the records contain, none of them a plural. */
export function frequentWords(catalogue: NaiveCatalogue, partMax: number): readonly [string, string] {
  const sample = everyNth(catalogue.rows, SAMPLED_ROWS).map((row) => searchedTexts(catalogue, row).join(' '));
  const counts = new Map<string, number>();
  for (const text of sample) {
    const words = new Set(text.match(/[a-z]+/g)?.filter(({ length }) => length >= WORD_LETTERS_MIN));
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const countOf = (word: string): number => sample.filter((text) => text.includes(word)).length;
  const candidates = [...counts]
    .filter(([word, count]) => !word.endsWith('s') && count <= partMax * sample.length)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .map(([word]) => word);
  const isRare = (word: string): boolean => countOf(word) <= partMax * sample.length;
  const first = candidates.find(isRare);
  const second = candidates.find((word) => word !== first && isRare(word));
  if (first === undefined || second === undefined)
    throw new Error('the records have no two words that are rare enough');
  return [first, second];
}

/** The rows with all words, ranked as in A168. Cost: a read and a parse of every line. */
export function rowsWithWords(catalogue: NaiveCatalogue, words: readonly string[]): readonly NaiveRow[] {
  const ranked: { readonly row: NaiveRow; readonly rank: number }[] = [];
  for (const row of catalogue.rows) {
    const texts = searchedTexts(catalogue, row);
    if (!words.every((word) => texts.some((text) => text.includes(word)))) continue;
    const [title, keywords] = texts as [string, string];
    const inTitle = words.filter((word) => title.includes(word)).length;
    const isKeyword = words.some((word) => keywords.includes(word));
    const tier = inTitle === words.length ? 0 : inTitle > 0 ? 1 : isKeyword ? 2 : 3;
    const isWhole = words.every((word) => texts.some((text) => wholeWord(word).test(text)));
    ranked.push({ row, rank: tier * 2 + (isWhole ? 0 : 1) });
  }
  return ranked.sort((a, b) => a.rank - b.rank || a.row.id - b.row.id).map(({ row }) => row);
}

function wholeWord(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'u');
}

/** The title, the keywords, and the other texts that `search` reads, in lower case. */
function searchedTexts(catalogue: NaiveCatalogue, row: NaiveRow): readonly string[] {
  const { title, keywords, abstract } = JSON.parse(catalogue.line(row, '', 'v3')) as Readonly<Record<string, string>>;
  const phenomena = linkedRecords(catalogue, 'phenomona', row.phenomena) as readonly Phenomenon[];
  const names = phenomena.flatMap((one) => [
    ...one.names.map(({ name }) => name),
    ...one.terms.map(({ value }) => value),
  ]);
  const projects = linkedRecords(catalogue, 'projects', row.projects) as readonly { readonly title: string }[];
  return [title, keywords, abstract, ...names, ...projects.map((project) => project.title)].map((text) =>
    (text ?? '').toLowerCase(),
  );
}

interface Phenomenon {
  readonly names: readonly { readonly name: string }[];
  readonly terms: readonly { readonly value: string }[];
}

function linkedRecords({ linked }: NaiveCatalogue, name: LinkedCollection, ids: readonly number[]): readonly unknown[] {
  return ids.flatMap((id) => {
    const line = linked[name].get(id);
    return line === undefined ? [] : [JSON.parse(line)];
  });
}

/** Edges of a box in degrees. */
interface Box {
  readonly westBoundLongitude: number | null;
  readonly southBoundLatitude: number | null;
  readonly eastBoundLongitude: number | null;
  readonly northBoundLatitude: number | null;
}

/** The rows whose box overlaps this one, which does not cross the date line. */
export function rowsInBox(
  catalogue: NaiveCatalogue,
  [west, south, east, north]: readonly [number, number, number, number],
): readonly NaiveRow[] {
  return catalogue.rows.filter(({ box }) => {
    const [found] = linkedRecords(catalogue, 'bboxes', box === undefined ? [] : [box]) as readonly Box[];
    if (!found) return false;
    const edges = [
      found.westBoundLongitude,
      found.southBoundLatitude,
      found.eastBoundLongitude,
      found.northBoundLatitude,
    ];
    if (edges.includes(null)) return false;
    const [w, s, e, n] = edges as [number, number, number, number];
    if (s > north || n < south) return false;
    return w > e ? w <= east || e >= west : w <= east && e >= west;
  });
}

/** The rows whose period overlaps the years from `first` to `last`. */
export function rowsInYears(catalogue: NaiveCatalogue, first: number, last: number): readonly NaiveRow[] {
  const [start, end] = [Date.UTC(first, 0), Date.UTC(last + 1, 0)];
  return catalogue.rows.filter(({ period }) => {
    const found = periodOf(catalogue, { period });
    if (!found || found.startTime === null || instantOf(found.startTime) >= end) return false;
    return found.endTime === null || instantOf(found.endTime) >= start;
  });
}

/** The period of a row, if the record exists. */
export function periodOf(catalogue: NaiveCatalogue, { period }: Pick<NaiveRow, 'period'>): Period | undefined {
  const [found] = linkedRecords(catalogue, 'times', period === undefined ? [] : [period]) as readonly Period[];
  return found;
}

interface Period {
  readonly startTime: string | null;
  readonly endTime: string | null;
}

/** In ms. Times without a zone are UTC. */
export function instantOf(time: string): number {
  return Date.parse(/T.*\d$/.test(time) && !/[+-]\d\d:\d\d$/.test(time) ? `${time}Z` : time);
}

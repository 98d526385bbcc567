// The first rows of one condition in the order of ids, found without the set of all its rows, which a page near the
// start of a list does not need. Knows no relation and reads no value. Without it the first page of a range of dates
// that was not asked for before takes the engine 132 us in place of 32, and 1.1 to 1.4 times as long by postings.
import { slabWords } from '../bits/slab.ts';
import { upperBound } from '../bits/lists.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import type { AscendingRows } from '../index/rowset.ts';
import type { ConditionStep } from './conditionStep.ts';
import type { Counters } from './counters.ts';

/**
 * How the page of a list is found among the rows whose codes in the column at `path` are among `codes`, or are not
 * where that is negated. `by` `codes`: by a look at the codes of row after row, from the first record on, about `rows`
 * of them if those that match lie evenly. `by` `postings`: by a look at all postings of the codes, for those that stand
 * first. Behind `rowsMax` rows, or where too few postings are found, all rows are put together after all.
 */
export interface Walk {
  readonly by: 'codes' | 'postings';
  readonly path: readonly string[];
  readonly codes: readonly CodeRange[];
  readonly isNegated: boolean;
  readonly rows: number;
  readonly rowsMax: number;
}

/** The places of a list that are shown: ranks of the rows that match. */
export interface Places {
  readonly offset: number;
  readonly limit: number;
}

/** The rows of a page, and how many match in all. */
export interface FirstRows {
  readonly count: number;
  readonly rows: AscendingRows;
}

/** Sets of fewer rows are put together in less than 10 us, and then cost the same at every offset. */
const GATHERED_MIN = 4096;

/** Rows that are looked at in vain at most: 20 us. */
const ROWS_MAX = 16_384;

/**
 * How much nearer than where it is given up a page must be expected: a row that is looked at costs half of one that is
 * put into a set.
 */
const EXPECTED_GAIN = 1.5;

/**
 * Postings are looked through where the page is at most this part of them, and sorted where there are fewer than
 * `SORTED_MAX`.
 */
const SELECTED_PART = 1 / 4;
const SORTED_MAX = 256;

/**
 * Postings that say before which row the page most likely ends, and by how many standard deviations they are not to
 * miss it.
 */
const SAMPLES = 64;
const DEVIATIONS = 3;
const SAMPLES_SPARE = 2;

/** Rows found so far: room for all that may be looked at, and one to write to behind them. */
const found = new Uint32Array(ROWS_MAX + 1);
const sample = new Uint32Array(SAMPLES);

/**
 * How to walk to a page of the rows of a table of so many that match the condition, or do not where it is negated;
 * undefined where putting all of them together is better, or their codes are not known. Cost: none.
 */
export function walkTo(condition: ConditionStep, tableRows: number, { offset, limit }: Places): Walk | undefined {
  const { rowsGathered, estimate, isNegated, codes, path } = condition;
  if (!codes || rowsGathered <= SORTED_MAX) return undefined;
  const end = offset + limit;
  if (rowsGathered < GATHERED_MIN) {
    if (isNegated || rowsGathered < estimate || end > rowsGathered * SELECTED_PART) return undefined;
    return { by: 'postings', path, codes, isNegated, rows: rowsGathered, rowsMax: rowsGathered };
  }
  const matching = isNegated ? tableRows - estimate : estimate;
  const rows = Math.ceil((end * tableRows) / Math.max(1, matching));
  const rowsMax = Math.min(rowsGathered, ROWS_MAX);
  return rows * EXPECTED_GAIN <= rowsMax ? { by: 'codes', path, codes, isNegated, rows, rowsMax } : undefined;
}

/**
 * The page that a walk leads to, in the index of its column; undefined where it is given up. Counts the rows and
 * postings that were looked at. Cost: these, about 1 ns each, and a sort of few.
 */
export function walkedRows(
  index: FieldIndex,
  walk: Walk,
  { offset, limit }: Places,
  counters: Counters,
): FirstRows | undefined {
  const { by, codes, isNegated } = walk;
  const within = codes.reduce((sum, range) => sum + index.countOf(range), 0);
  const count = isNegated ? index.rows - within : within;
  const end = Math.min(offset + limit, count);
  const isFound = by === 'postings' ? selected(index, codes, count, end, counters) : walked(index, walk, end, counters);
  if (!isFound) return undefined;
  const rows = slabWords(Math.max(0, end - offset));
  for (let i = 0; i < rows.length; i++) rows[i] = found[offset + i]!;
  return { count, rows: { kind: 'list', rows } };
}

/** Finds the first `wanted` rows by their codes; false where it was given up. */
function walked(index: FieldIndex, { codes, isNegated, rowsMax }: Walk, wanted: number, counters: Counters): boolean {
  const [only, ...others] = codes;
  const rowEnd = Math.min(rowsMax, index.rows);
  const looked =
    only && others.length === 0
      ? lookInRange(index, only, isNegated, wanted, rowEnd)
      : lookInRanges(index, codes, isNegated, wanted, rowEnd);
  counters.rowsTouched += Math.min(looked, rowEnd);
  return looked <= rowEnd;
}

/**
 * Notes rows until `wanted` are found; answers how many it looked at, infinitely many where those up to `rowEnd` did
 * not suffice. Without a branch on what is found, which no processor could foresee: the signs of two differences say
 * whether a code lies in the range.
 */
function lookInRange(
  index: FieldIndex,
  { start, end }: CodeRange,
  isNegated: boolean,
  wanted: number,
  rowEnd: number,
): number {
  const flip = isNegated ? 1 : 0;
  let length = 0;
  let row = 0;
  for (; length < wanted && row < rowEnd; row++) {
    const code = index.codeAt(row);
    found[length] = row;
    length += ((~(code - start) & (code - end)) >>> 31) ^ flip;
  }
  return length < wanted ? Infinity : row;
}

/** The same for disjoint ascending ranges. Cost: a binary search among them for each row. */
function lookInRanges(
  index: FieldIndex,
  codes: readonly CodeRange[],
  isNegated: boolean,
  wanted: number,
  rowEnd: number,
): number {
  const starts = Uint32Array.from(codes, ({ start }) => start);
  const ends = Uint32Array.from(codes, ({ end }) => end);
  let length = 0;
  let row = 0;
  for (; length < wanted && row < rowEnd; row++) {
    const code = index.codeAt(row);
    const before = upperBound(starts, code) - 1;
    if ((before >= 0 && code < ends[before]!) !== isNegated) found[length++] = row;
  }
  return length < wanted ? Infinity : row;
}

/**
 * Finds the first `wanted` rows among the postings of codes, `total` in all: those up to a row that a sample of them
 * names, sorted; false where these are too few.
 */
function selected(
  index: FieldIndex,
  codes: readonly CodeRange[],
  total: number,
  wanted: number,
  counters: Counters,
): boolean {
  const last = rowLikelyBehind(index, codes, total, wanted);
  let length = 0;
  for (const range of codes) {
    const from = index.countOf({ start: 0, end: range.start });
    const to = from + index.countOf(range);
    for (let place = from; place < to; place++) {
      const row = index.sortedRow(place);
      found[length] = row;
      length += row <= last ? 1 : 0;
    }
  }
  counters.postingsVisited += total;
  counters.rowsTouched += total;
  if (length < wanted) return false;
  found.subarray(0, length).sort();
  return true;
}

/** A row that at least `wanted` of the postings most likely do not lie behind, by a sample of them. */
function rowLikelyBehind(index: FieldIndex, codes: readonly CodeRange[], total: number, wanted: number): number {
  let taken = 0;
  let before = 0;
  for (const range of codes) {
    const start = index.countOf({ start: 0, end: range.start });
    const behind = before + index.countOf(range);
    for (; taken < SAMPLES; taken++) {
      const place = Math.floor((taken * total) / SAMPLES);
      if (place >= behind) break;
      sample[taken] = index.sortedRow(start + place - before);
    }
    before = behind;
  }
  sample.sort();
  const expected = (wanted / total) * SAMPLES;
  const chosen = Math.ceil(expected + DEVIATIONS * Math.sqrt(expected)) + SAMPLES_SPARE;
  return sample[Math.min(SAMPLES - 1, chosen)]!;
}

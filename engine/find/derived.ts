// Indexes that one request derives from those of the snapshot: over the values of linked records, and over the years of
// dates.
import { type CodeRange, storedDictionary } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { type FieldIndex, invertedIndex } from '../index/field.ts';
import { invert } from '../index/invert.ts';
import { DANGLING } from '../index/join.ts';
import { codesOfYear, yearAt } from '../query/dateParts.ts';
import type { LinkStep } from '../query/path.ts';

/**
 * The index of a field of linked records, over the rows that link to them through `hops`, in this order. The value is
 * null for a null or dangling link. Cost: `codeAt` takes a step per hop. The first call of any other function inverts
 * the index: one pass over the rows.
 */
export function joinedIndex(rows: number, hops: readonly LinkStep[], target: FieldIndex): FieldIndex {
  const { dictionary } = target;
  const codeAt = (row: number): number => {
    let at = row;
    for (const { index, link } of hops) {
      at = link.targets![index.codeAt(at)] ?? DANGLING;
      if (at === DANGLING) return dictionary.size;
    }
    return target.codeAt(at);
  };
  let cache: FieldIndex | undefined;
  const codes = (): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => codeAt(row));
  const inverse = (): FieldIndex => (cache ??= invertedIndex(dictionary, invert(codes(), dictionary.size, false)));
  return {
    dictionary,
    grams: undefined,
    rows,
    codeAt,
    rowsOf: (codes) => inverse().rowsOf(codes),
    countOf: (codes) => inverse().countOf(codes),
    rowsGathered: (codes) => inverse().rowsGathered(codes),
    sortedRow: (place) => inverse().sortedRow(place),
  };
}

const ENCODER = new TextEncoder();

/** The index of the years of dates, in UTC. Null and values that are not dates have no year. Cost: some us per year. */
export function yearIndex(dates: FieldIndex, form: ServedForm): FieldIndex {
  const { fitting, size } = dates.dictionary;
  const years: number[] = [];
  /** The first date code of each year, of the values without a year, and the end of these. */
  const firstCodes: number[] = [];
  for (let code = 0; code < fitting;) {
    const year = yearAt(dates.dictionary, code);
    const ranges = codesOfYear(dates.dictionary, { kind: 'number', values: [String(year)] }, form);
    years.push(year);
    firstCodes.push(code);
    code = ranges.find(({ end }) => end > code)!.end;
  }
  firstCodes.push(fitting, size + 1);
  let textEnd = 0;
  const ends = Uint32Array.from(years, (year) => (textEnd += String(year).length));
  const text = ENCODER.encode(years.join(''));
  const dictionary = storedDictionary('integer', { ends, text, numbers: Float64Array.from(years) });
  /** Converts codes of years to codes of dates. */
  const dateCodes = ({ start, end }: CodeRange): CodeRange => ({ start: firstCodes[start]!, end: firstCodes[end]! });
  const yearCodes = new Uint32Array(size + 1).fill(years.length);
  years.forEach((_, i) => yearCodes.fill(i, firstCodes[i], firstCodes[i + 1]));
  return {
    dictionary,
    grams: undefined,
    rows: dates.rows,
    codeAt: (row) => yearCodes[dates.codeAt(row)]!,
    rowsOf: (codes) => dates.rowsOf(dateCodes(codes)),
    countOf: (codes) => dates.countOf(dateCodes(codes)),
    rowsGathered: (codes) => dates.rowsGathered(dateCodes(codes)),
    sortedRow: (place) => dates.sortedRow(place),
  };
}

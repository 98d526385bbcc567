// Counts the records of a set by the values of a field, most frequent values first. Counts are exact: each record
// counts once for each of its values. They equal the counts that filters on the values would find.
import { codesOfText, type Dictionary, textAt } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { wordsFor } from '../bits/bitmap.ts';
import { countCodes, type FieldIndex } from '../index/field.ts';
import { countRows, eachRow, type RowSet } from '../index/rowset.ts';
import { DANGLING } from '../index/join.ts';
import type { CollectionIndex } from '../index/table.ts';
import type { Meter } from './counters.ts';
import { yearIndex } from './derived.ts';
import { COST, walkNs } from './passes.ts';
import type { Facet } from '../query/ask.ts';
import { facetValues, type Values } from '../query/path.ts';
import { servedText, valueOrder, type ValueOrder } from './valueOrder.ts';

/** One facet. */
export interface FacetCounts {
  readonly name: string;
  /** The values as served, in the order shown, with their counts. Links are ids; null is `null` without quotes. */
  readonly values: readonly (readonly [text: string, count: number])[];
}

interface Counting {
  readonly form: ServedForm;
  readonly meter: Meter;
  /** The number of facets in the response. */
  readonly facetCount: number;
}

/** Values shown of one facet. Rarer values are of no use for choosing. */
const FACET_VALUES_MAX = 100;

/**
 * Maximum stored bytes of the values that all facets of a response show, divided equally among them. Values that would
 * exceed a facet's share are skipped. A serving thread writes the values again for each response, at 20 to 27 ns a
 * byte.
 */
export const FACET_BYTES_MAX = 1 << 17;

const NULL_TEXT = 'null';
const NULL_BYTES = new TextEncoder().encode(NULL_TEXT);

/**
 * The counts of one facet over a set of the collection's rows. Different spellings of one value count as one value. It
 * is shown in the spelling that is first by text among those that occur. Records without a value of the type, or with a
 * related row without one, count as null.
 */
export function facetCounts(
  collection: CollectionIndex,
  facet: Facet,
  set: RowSet,
  { form, meter, facetCount }: Counting,
): FacetCounts {
  meter.purpose = facet;
  const { index: stored, steps, isYear } = facetValues(collection, facet.path)!;
  const index = isYear ? yearIndex(stored, form) : stored;
  const values: Values = { index, steps };
  const { dictionary } = index;
  const rows = countRows(set);
  if (rows === 0) return { name: facet.name, values: [] };
  const isRelated = steps.length > 0;
  meter.foresee(isRelated ? rows * COST.counted : countCodesNs(values.index, set));
  const order = valueOrder(dictionary, form, meter);
  const slots = slotsOf(dictionary, order, meter);
  if (!isRelated) meter.spend(countCodesNs(values.index, set));
  meter.spend(dictionary.size * COST.code);
  const tally = isRelated
    ? relatedTally(values, set, slots, meter)
    : tallyOf(countCodes(values.index, set), slots, dictionary);
  meter.counters.rowsCounted += isRelated ? tally.rows : countCodesSteps(values.index, set);
  return { name: facet.name, values: mostFrequent(dictionary, order, tally, { form, meter, facetCount }) };
}

/** The number of rows or words of bitmaps that `countCodes` reads. */
export function countCodesSteps(index: FieldIndex, set: RowSet): number {
  const rows = countRows(set);
  if (rows === index.rows) return 0;
  const words = (index.dictionary.size + 1) * wordsFor(index.rows);
  return set.kind === 'bitmap' ? Math.min(words, rows) : rows;
}

/** Cost of `countCodes` in ns. */
export function countCodesNs(index: FieldIndex, set: RowSet): number {
  const codes = index.dictionary.size + 1;
  if (countRows(set) === index.rows) return codes * COST.code;
  const words = codes * wordsFor(index.rows);
  if (set.kind === 'bitmap' && words <= countRows(set)) return words * COST.word + codes * COST.set;
  return walkNs(set) + countRows(set) * COST.counted + codes;
}

/**
 * The slot in which each code is counted: the first code of its value, or `fitting` for null. `undefined` if each value
 * has one code.
 */
function slotsOf({ size, fitting, type }: Dictionary, order: ValueOrder, meter: Meter): Uint32Array | undefined {
  if (order.isByCode && fitting === size && (type === 'text' || type === 'boolean')) return undefined;
  meter.spend(size * 2 * COST.code);
  let slots: Uint32Array | undefined;
  for (let rank = 1; rank <= size; rank++) {
    const code = order.codeOf(rank);
    const before = order.codeOf(rank - 1);
    if (!order.isSame(before, code)) continue;
    slots ??= Uint32Array.from({ length: size + 1 }, (_, each) => each);
    slots[code] = slots[before]!;
  }
  return slots;
}

/** Counts by slot. */
interface Tally {
  readonly counts: Uint32Array;
  /** The first code of each slot that occurs; `undefined` if each slot has one code. */
  readonly shown: Uint32Array | undefined;
  /** Records with null or with the text `null`, which have one key. */
  readonly nulls: number;
  /** The number of rows read. */
  readonly rows: number;
}

function tallyOf(codes: Uint32Array, slots: Uint32Array | undefined, dictionary: Dictionary): Tally {
  const nullTexts = codes[codeOfNullText(dictionary)] ?? 0;
  if (!slots) return { counts: codes, shown: undefined, nulls: codes[dictionary.size]! + nullTexts, rows: 0 };
  const counts = new Uint32Array(codes.length);
  const shown = new Uint32Array(codes.length).fill(codes.length);
  codes.forEach((count, code) => {
    const slot = slots[code]!;
    counts[slot]! += count;
    if (count > 0) shown[slot] = Math.min(shown[slot]!, code);
  });
  return { counts, shown, nulls: counts[dictionary.fitting]! + nullTexts, rows: 0 };
}

/** The code of the text `null`, or -1. */
function codeOfNullText(dictionary: Dictionary): number {
  if (dictionary.type !== 'text') return -1;
  const { start, end } = codesOfText(dictionary, NULL_BYTES);
  return start < end ? start : -1;
}

/**
 * Counts records by the values of their related rows. `seenBy` has the last record of each value, so that a record
 * counts once for each value.
 */
function relatedTally({ index, steps }: Values, set: RowSet, slots: Uint32Array | undefined, meter: Meter): Tally {
  const { size, fitting } = index.dictionary;
  const nullText = codeOfNullText(index.dictionary);
  const counts = new Uint32Array(size + 1);
  const seenBy = new Uint32Array(size + 1);
  const shown = slots && new Uint32Array(size + 1).fill(size + 1);
  let [nulls, nullsSeenBy, record, rows] = [0, 0, 0, 0];
  const see = (code: number): void => {
    const slot = slots ? slots[code]! : code;
    rows++;
    if (shown && code < shown[slot]!) shown[slot] = code;
    if ((code >= fitting || code === nullText) && nullsSeenBy !== record) {
      nullsSeenBy = record;
      nulls++;
    }
    if (seenBy[slot] === record) return;
    seenBy[slot] = record;
    counts[slot]!++;
  };
  eachRow(set, (row) => {
    record = row + 1;
    eachRelated(steps, 0, row, meter, (related) => see(related < 0 ? size : index.codeAt(related)));
  });
  return { counts, shown, nulls, rows };
}

/**
 * Follows the steps from `depth` on, and calls `visit` with each row at their end. If a step leads to no row, it calls
 * `visit` with -1.
 */
function eachRelated(
  steps: Values['steps'],
  depth: number,
  row: number,
  meter: Meter,
  visit: (row: number) => void,
): void {
  const step = steps[depth];
  if (!step) return visit(row);
  let [start, end] = [0, 0];
  if (step.kind === 'many') [start, end] = [step.table.starts![row]!, step.table.starts![row + 1]!];
  else {
    const target = step.link.targets![step.index.codeAt(row)] ?? DANGLING;
    if (target !== DANGLING) [start, end] = [target, target + 1];
  }
  meter.spend((1 + end - start) * COST.counted);
  if (start === end) visit(-1);
  for (let related = start; related < end; related++) eachRelated(steps, depth + 1, related, meter, visit);
}

/**
 * Sorts by count, descending, then by value. Visits values in their order, so that among equal counts the first values
 * win.
 */
function mostFrequent(
  dictionary: Dictionary,
  order: ValueOrder,
  tally: Tally,
  { form, meter, facetCount }: Counting,
): FacetCounts['values'] {
  const { size, fitting } = dictionary;
  meter.spend(size * 2 * COST.code + Math.min(size, FACET_VALUES_MAX) * COST.shown);
  const counts = withNullText(tally, fitting, codeOfNullText(dictionary));
  const best: { readonly code: number; readonly count: number }[] = [];
  for (let rank = 0; rank <= size; rank++) {
    const code = order.codeOf(rank);
    const count = counts[code]!;
    if (count === 0 || (best.length === FACET_VALUES_MAX && count <= best.at(-1)!.count)) continue;
    let place = best.length;
    while (place > 0 && best[place - 1]!.count < count) place--;
    best.splice(place, 0, { code, count });
    if (best.length > FACET_VALUES_MAX) best.pop();
  }
  const values: (readonly [text: string, count: number])[] = [];
  let bytes = 0;
  for (const { code, count } of best) {
    const shown = tally.shown ? tally.shown[code]! : code;
    const own = code < fitting ? textAt(dictionary, shown).length : 0;
    if (bytes + own > FACET_BYTES_MAX / facetCount) continue;
    bytes += own;
    values.push([code === fitting ? NULL_TEXT : servedText(dictionary, shown, form), count]);
  }
  return values;
}

/** Adds the records without a value to those with the text `null`, because both have one key. */
function withNullText({ counts, nulls }: Tally, fitting: number, nullText: number): Uint32Array {
  if (nullText < 0 || counts[nullText] === 0 || counts[fitting] === 0) return counts;
  const merged = counts.slice();
  merged[nullText] = nulls;
  merged[fitting] = 0;
  return merged;
}

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
import type { NamedField } from '../query/ask.ts';
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
  facet: NamedField,
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
  meter.spend(dictionary.size * COST.code);
  const counts = (isRelated ? countRelated : countOwn)(values, set, slots, meter);
  return { name: facet.name, values: mostFrequent(dictionary, order, counts, { form, meter, facetCount }) };
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
 * The slot in which each code is counted: the first code of its value. Null and the text `null` share one, because they
 * have one key. `undefined` if each value has one code.
 */
type Slots = Uint32Array | undefined;

function slotsOf(dictionary: Dictionary, order: ValueOrder, meter: Meter): Slots {
  const { size, fitting, type } = dictionary;
  const nullText = type === 'text' ? codesOfText(dictionary, NULL_BYTES) : { start: 0, end: 0 };
  const hasNullText = nullText.start < nullText.end;
  const isPlain = order.isByCode && fitting === size && (type === 'text' || type === 'boolean');
  if (isPlain && !hasNullText) return undefined;
  meter.spend(size * 2 * COST.code);
  let slots: Slots;
  const share = (code: number, other: number): void => {
    slots ??= Uint32Array.from({ length: size + 1 }, (_, each) => each);
    slots[code] = slots[other]!;
  };
  for (let rank = 1; rank <= size; rank++) {
    const code = order.codeOf(rank);
    const before = order.codeOf(rank - 1);
    if (order.isSame(before, code)) share(code, before);
  }
  if (hasNullText) share(nullText.start, fitting);
  return slots;
}

/** Counts records by their values. */
function countOwn({ index }: Values, set: RowSet, slots: Slots, meter: Meter): Uint32Array {
  meter.spend(countCodesNs(index, set));
  meter.counters.rowsCounted += countCodesSteps(index, set);
  const codes = countCodes(index, set);
  if (!slots) return codes;
  const counts = new Uint32Array(codes.length);
  const shown = new Uint32Array(codes.length).fill(codes.length);
  codes.forEach((count, code) => {
    const slot = slots[code]!;
    counts[slot]! += count;
    if (count > 0) shown[slot] = Math.min(shown[slot]!, code);
  });
  return moveToShown(counts, shown);
}

/** Moves each count from its slot to the first code of the slot that occurs: the value is shown in its spelling. */
function moveToShown(counts: Uint32Array, shown: Uint32Array): Uint32Array {
  for (let slot = 0; slot < counts.length; slot++) {
    const [code, count] = [shown[slot]!, counts[slot]!];
    if (code === counts.length) continue;
    counts[slot] = 0;
    counts[code] = count;
  }
  return counts;
}

/**
 * Counts records by the values of their related rows. `seenBy` has the last record of each value, so that a record
 * counts once for each value.
 */
function countRelated({ index, steps }: Values, set: RowSet, slots: Slots, meter: Meter): Uint32Array {
  const { size } = index.dictionary;
  const counts = new Uint32Array(size + 1);
  const seenBy = new Uint32Array(size + 1);
  const shown = slots && new Uint32Array(size + 1).fill(size + 1);
  let [record, rows] = [0, 0];
  const see = (code: number): void => {
    const slot = slots ? slots[code]! : code;
    rows++;
    if (shown && code < shown[slot]!) shown[slot] = code;
    if (seenBy[slot] === record) return;
    seenBy[slot] = record;
    counts[slot]!++;
  };
  eachRow(set, (row) => {
    record = row + 1;
    eachRelated(steps, 0, row, meter, (related) => see(related < 0 ? size : index.codeAt(related)));
  });
  meter.counters.rowsCounted += rows;
  return shown ? moveToShown(counts, shown) : counts;
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
  counts: Uint32Array,
  { form, meter, facetCount }: Counting,
): FacetCounts['values'] {
  const { size, fitting } = dictionary;
  meter.spend(size * 2 * COST.code + Math.min(size, FACET_VALUES_MAX) * COST.shown);
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
    const own = code < fitting ? textAt(dictionary, code).length : 0;
    if (bytes + own > FACET_BYTES_MAX / facetCount) continue;
    bytes += own;
    values.push([code < fitting ? servedText(dictionary, code, form) : NULL_TEXT, count]);
  }
  return values;
}

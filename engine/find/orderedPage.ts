// A page of an ordered list: the rows at its positions when a set is sorted by keys, with ties sorted by id. Sorts at
// most the page and the values at its two ends, so that every page costs the same.
import { lowerBound } from '../bits/lists.ts';
import type { ServedForm } from '../column/served.ts';
import { countCodes, type FieldIndex } from '../index/field.ts';
import { countRows, eachRow, type RowSet, select, type Selection } from '../index/rowset.ts';
import type { CollectionIndex } from '../index/table.ts';
import type { Page } from '../query/ask.ts';
import type { Meter } from './counters.ts';
import { joinedIndex } from './derived.ts';
import { countCodesNs, countCodesSteps } from './facetCounts.ts';
import { COST, intersectRows, listRows, rowsOfRange, setOfList, walkNs } from './passes.ts';
import { singleValueAt } from '../query/path.ts';
import { valueOrder, type ValueOrder } from './valueOrder.ts';

/** The order, and the positions to show. */
type OrderedPage = Pick<Page, 'order' | 'offset' | 'limit'>;

/** Sets of up to this many rows are sorted directly: counting by value first would take longer. */
const SORTED_ROWS_MAX = 1024;

/**
 * A set that is this many times smaller than the dictionary is sorted directly: counts of all values would be mostly
 * zeros.
 */
const SPARSE_PART = 8;

/**
 * The rows of a page of a set, in order. Cost for a whole collection and one key: a binary search and the page.
 * Otherwise one read of each row of the set, or of the values at the page's ends, by counting; and a sort of the page.
 */
export function orderedPage(
  collection: CollectionIndex,
  set: RowSet,
  { order, offset, limit }: OrderedPage,
  { form, meter }: { readonly form: ServedForm; readonly meter: Meter },
): Selection {
  const count = countRows(set);
  const start = Math.min(offset, count);
  const end = Math.min(start + limit, count);
  if (start === end) return { kind: 'sequence', rows: new Uint32Array(0) };
  meter.purpose = order[0];
  meter.spend((end - start) * COST.listed);
  const shown: ShownRows = { rows: new Uint32Array(end - start), length: 0, meter };
  // Computing the order of values may be expensive: an empty page returns before this.
  const keys = order.map((key) => {
    meter.purpose = key;
    const { index: stored, steps } = singleValueAt(collection, key.path)!;
    const index = steps.length === 0 ? stored : joinedIndex(collection.rows, steps, stored);
    if (steps.length > 0) meter.spend((count > SORTED_ROWS_MAX ? collection.rows : count) * steps.length * COST.joined);
    return new Key(index, valueOrder(index.dictionary, form, meter), key.isDescending, index === collection.ids);
  });
  meter.purpose = order[0];
  addPlaces(shown, set, keys, start, end);
  return { kind: 'sequence', rows: shown.rows };
}

/**
 * One sort key. A place is a rank of its values in the requested direction: null is last ascending, first descending.
 */
class Key {
  readonly index: FieldIndex;
  readonly order: ValueOrder;
  readonly isDescending: boolean;
  readonly isId: boolean;
  readonly size: number;

  constructor(index: FieldIndex, order: ValueOrder, isDescending: boolean, isId: boolean) {
    this.index = index;
    this.isId = isId;
    this.order = order;
    this.isDescending = isDescending;
    this.size = index.dictionary.size;
  }

  placeOf(code: number): number {
    const rank = this.order.rankOf(code);
    return this.isDescending ? this.size - rank : rank;
  }

  codeOf(place: number): number {
    return this.order.codeOf(this.isDescending ? this.size - place : place);
  }

  isSame(a: number, b: number): boolean {
    return this.order.isSame(this.codeOf(a), this.codeOf(b));
  }
}

interface Places {
  readonly start: number;
  readonly end: number;
}

/** The page while it is filled. */
interface ShownRows {
  readonly rows: Uint32Array;
  length: number;
  readonly meter: Meter;
}

/** Adds the rows at positions `start` to `end` of the set, in order; there is at least one. */
function addPlaces(shown: ShownRows, set: RowSet, keys: readonly Key[], start: number, end: number): void {
  const [key, ...rest] = keys;
  const { meter } = shown;
  if (!key) return add(shown, listRows(meter, select(set, start, end - start)));
  const rows = countRows(set);
  if (key.isId) return add(shown, byIdFrom(shown, set, key.isDescending ? rows - end : start, end - start, key));
  const isWhole = rows === key.index.rows && key.order.isByCode;
  if (!isWhole && (rows <= SORTED_ROWS_MAX || rows * SPARSE_PART < key.size)) {
    meter.foresee(rows * COST.ordered);
    return add(shown, sorted(shown, listRows(meter, set), keys).subarray(start, end));
  }
  if (!isWhole) meter.counters.rowsOrdered += countCodesSteps(key.index, set);
  const places = placesOf(meter, key, set);
  const first = valueAt(meter, key, places, start);
  const last = valueAt(meter, key, places, end - 1);
  const firstStart = places.before(first.start);
  const firstEnd = places.before(first.end);
  const addValue = (value: Places, from: number, to: number): void => {
    const isList = isWhole && rest.length === 0 && value.end === value.start + 1;
    if (isList) addSorted(shown, key, key.codeOf(value.start), from, to);
    else addPlaces(shown, rowsAt(meter, key, set, value), rest, from, to);
  };
  if (end <= firstEnd) return addValue(first, start - firstStart, end - firstStart);
  addValue(first, start - firstStart, firstEnd - firstStart);
  const middle = { start: first.end, end: last.start };
  if (isWhole) addValues(shown, key, rest, middle);
  else add(shown, sorted(shown, listRows(meter, rowsAt(meter, key, set, middle)), keys));
  addValue(last, 0, end - places.before(last.start));
}

/**
 * Selects rows by id. Later keys have no effect because ids are unique. If descending, the rows are a reversed copy.
 */
function byIdFrom(
  { meter }: ShownRows,
  set: RowSet,
  offset: number,
  length: number,
  { isDescending }: Key,
): Uint32Array {
  const rows = listRows(meter, select(set, offset, length));
  return isDescending ? Uint32Array.from(rows, (_, i) => rows[rows.length - 1 - i]!) : rows;
}

function addSorted(shown: ShownRows, { index }: Key, code: number, from: number, to: number): void {
  const start = index.countOf({ start: 0, end: code });
  for (let k = start + from; k < start + to; k++) shown.rows[shown.length++] = index.sortedRow(k);
}

/** Adds no more rows than fit: in a forged file, codes and posting lists may disagree. */
function add(shown: ShownRows, rows: Uint32Array): void {
  const taken = rows.subarray(0, shown.rows.length - shown.length);
  shown.rows.set(taken, shown.length);
  shown.length += taken.length;
}

/** Converts between places and ranks of rows. */
interface Standing {
  /** The number of rows before a place. */
  before(place: number): number;
  /** The place of the row with this rank. */
  at(rank: number): number;
}

function placesOf(meter: Meter, key: Key, set: RowSet): Standing {
  const { index, size, isDescending } = key;
  if (countRows(set) === index.rows && key.order.isByCode) {
    const before = (place: number): number =>
      isDescending
        ? index.countOf({ start: size + 1 - place, end: size + 1 })
        : index.countOf({ start: 0, end: place });
    return { before, at: (rank) => searched(before, size + 1, rank) };
  }
  meter.spend(countCodesNs(index, set) + size * COST.code);
  const counts = countCodes(index, set);
  const starts = new Uint32Array(size + 2);
  for (let place = 0; place <= size; place++) starts[place + 1] = starts[place]! + counts[key.codeOf(place)]!;
  return { before: (place) => starts[place]!, at: (rank) => lowerBound(starts, rank + 1) - 1 };
}

/** Finds the place of the row with this rank by binary search. */
function searched(before: (place: number) => number, end: number, rank: number): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(middle + 1) <= rank) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The places of the value of the row with this rank: several if the value has several spellings. */
function valueAt(meter: Meter, key: Key, places: Standing, rank: number): Places {
  let start = places.at(rank);
  let end = start + 1;
  for (; start > 0 && key.isSame(start - 1, start); start--) meter.spend(COST.code);
  for (; end <= key.size && key.isSame(end - 1, end); end++) meter.spend(COST.code);
  return { start, end };
}

/** The rows of a set at these places. */
function rowsAt(meter: Meter, key: Key, set: RowSet, { start, end }: Places): RowSet {
  const { index, order, size, isDescending } = key;
  if (start >= end) return { kind: 'range', start: 0, end: 0 };
  if (order.isByCode) {
    const codes = isDescending ? { start: size + 1 - end, end: size + 1 - start } : { start, end };
    if (index.countOf(codes) <= countRows(set) || codes.end === codes.start + 1) {
      return intersectRows(meter, set, rowsOfRange(meter, index, codes));
    }
  }
  meter.spend(walkNs(set) + countRows(set) * COST.row);
  const rows = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    const place = key.placeOf(index.codeAt(row));
    if (place >= start && place < end) rows[length++] = row;
  });
  return setOfList(meter, rows.subarray(0, length), index.rows);
}

/** Adds all rows of a table at these places, value by value, by walking the rows as they are sorted by code. */
function addValues(shown: ShownRows, key: Key, rest: readonly Key[], { start, end }: Places): void {
  const { index } = key;
  for (let place = start; place < end;) {
    const from = shown.length;
    const first = place;
    shown.meter.spend(COST.set);
    do {
      const code = key.codeOf(place++);
      addSorted(shown, key, code, 0, index.countOf({ start: code, end: code + 1 }));
    } while (place < end && key.isSame(place - 1, place));
    sortWithinValue(shown, shown.rows.subarray(from, shown.length), rest, place > first + 1);
  }
}

/** Sorts the rows of one value in place; the rows of several codes are first merged by row. */
function sortWithinValue(shown: ShownRows, rows: Uint32Array, rest: readonly Key[], isMerged: boolean): void {
  if (rows.length < 2) return;
  if (isMerged) rows.sort();
  if (rest.length > 0) rows.set(sorted(shown, rows, rest));
}

/**
 * Sorts ascending rows by the keys. Each row becomes one number, place * length + position, so rows with the same value
 * stay ascending. Exact below 2^53, which is 90 million rows with as many values.
 */
function sorted(shown: ShownRows, rows: Uint32Array, keys: readonly Key[]): Uint32Array {
  const [key, ...rest] = keys;
  const { length } = rows;
  if (!key || length < 2) return rows;
  shown.meter.spend(length * COST.ordered);
  shown.meter.counters.rowsOrdered += length;
  const marks = new Float64Array(length);
  for (let i = 0; i < length; i++) marks[i] = key.placeOf(key.index.codeAt(rows[i]!)) * length + i;
  marks.sort();
  const placeAt = (i: number): number => Math.floor(marks[i]! / length);
  const ordered = Uint32Array.from(marks, (mark) => rows[mark % length]!);
  for (let start = 0; start < length;) {
    let end = start + 1;
    let isMerged = false;
    while (end < length && (placeAt(end - 1) === placeAt(end) || key.isSame(placeAt(end - 1), placeAt(end)))) {
      isMerged ||= placeAt(end - 1) !== placeAt(end);
      end++;
    }
    sortWithinValue(shown, ordered.subarray(start, end), rest, isMerged);
    start = end;
  }
  return ordered;
}

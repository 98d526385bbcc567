// The passes over rows, codes and words that make up a query. Each pass pays before it runs, by the sizes of its input.
// `COST` is the only table of prices: together with the meter's budget it decides what a serving thread executes
// itself.
import { setBit, wordsFor } from '../bits/bitmap.ts';
import {
  complement,
  countRows,
  DENSE_PART,
  intersect,
  intersectionSteps,
  isSortedByMarks,
  listed,
  ofBitmap,
  type RowSet,
  rowSetOf,
  union,
} from '../index/rowset.ts';
import { childRows, countChildren, type Link, parentsOf, type Table } from '../index/table.ts';
import { NULL_LOOKUP } from '../query/lookups.ts';
import type { Operand } from '../query/values.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import { codesLinkingTo, isSearchedFor, joinSteps, rowsLinkedFrom, rowsLinkingTo } from '../index/join.ts';
import type { Meter } from './counters.ts';

/** The parts of a plan's steps that matter for nulls: conditions on a table's rows, and the steps on related rows. */
type NullStep =
  | { readonly kind: 'condition'; readonly lookup: string; readonly operand: Operand }
  | { readonly kind: 'table' | 'link'; readonly steps: readonly NullStep[] }
  | { readonly kind: 'any'; readonly isNegated?: boolean; readonly steps: readonly NullStep[] };

/** Whether a row of nulls matches every step, with only rows of nulls below it. Cost: the steps. */
export function holdsForNulls({ steps }: { readonly steps: readonly NullStep[] }): boolean {
  return steps.every((step) => {
    if (step.kind === 'condition') return isForNulls(step);
    if (step.kind !== 'any') return holdsForNulls(step);
    return step.isNegated === true || step.steps.some((set) => holdsForNulls({ steps: [set] }));
  });
}

/** Whether a condition requires null. */
export function isForNulls({ lookup, operand }: { readonly lookup: string; readonly operand: Operand }): boolean {
  return lookup === NULL_LOOKUP && operand.values[0] === 'true';
}

/**
 * Nanoseconds, measured on a busy 2-core machine. Those of joins, counts, orders, numbers and texts are measured with
 * cold caches, as in load/budget.long.test.ts.
 */
export const COST = {
  /** A word of a bitmap that is written, combined or counted. */
  word: 1,
  /** A row that is marked in a bitmap. */
  bit: 2,
  /** A row of a list that is copied or compared with another set. */
  row: 5,
  /** A row that is read in the order of rows. */
  rowInOrder: 3,
  /** A row that is mapped through a join. */
  joined: 12,
  /** A row of a list that is sorted, for each binary digit of the length of the list. */
  sortedDigit: 6,
  /** A number, or a text, that is looked up in a dictionary. */
  number: 250,
  textValue: 400,
  /** An own URL that is converted to its served form. */
  url: 2000,
  /** A range of codes that is made, or whose rows are read. */
  range: 60,
  /** A set of rows that is made for one range of codes. */
  set: 100,
  /** A code of a dictionary whose count or rank is read. */
  code: 2,
  /** A row whose values in two columns are read and compared. */
  pair: 24,
  /** A row that is counted by its code. */
  counted: 16,
  /** A value that is sorted by comparing texts. */
  compared: 1200,
  /** A byte of an n-gram list. */
  listByte: 8,
  /** Three bytes of a needle that are looked up among the n-grams. */
  gram: 80,
  /** A text that is searched on its own, in addition to its bytes. */
  text: 160,
  /** A text that is searched after its neighbour, in addition to its bytes. */
  scannedText: 20,
  /** A byte of a text, by the kind of search. */
  byte: { plain: 0.8, folded: 2.5, pattern: 10 },
  /** A part of a date that is computed. */
  datePart: 80,
  /** A row that is sorted by one sort key. */
  ordered: 160,
  /** A value of a facet that is written as text. */
  shown: 300,
  /** A row of the page. */
  listed: 5,
} as const;

export function intersectRows(meter: Meter, a: RowSet, b: RowSet): RowSet {
  const steps = intersectionSteps(a, b);
  meter.spend(steps * (a.kind === 'list' || b.kind === 'list' ? COST.row : COST.word));
  meter.counters.rowsTouched += steps;
  return intersect(a, b);
}

/** The rows of `set` that are not in `dropped`. The table has `rows` rows. */
export function subtractRows(meter: Meter, set: RowSet, dropped: RowSet, rows: number): RowSet {
  if (dropped.kind === 'range') meter.spend(wordsFor(rows) * COST.word);
  return intersectRows(meter, set, complement(dropped, rows));
}

/** The rows in any of the sets, over a table of `rows` rows. */
export function uniteRows(meter: Meter, sets: readonly RowSet[], rows: number): RowSet {
  let ns = wordsFor(rows) * COST.word;
  for (const set of sets) ns += set.kind === 'list' ? set.rows.length * COST.row : wordsFor(rows) * COST.word;
  meter.spend(ns);
  return union(sets, rows);
}

/** The rows of a set as an ascending list. */
export function listRows(meter: Meter, set: RowSet): Uint32Array {
  if (set.kind !== 'list') meter.spend(walkNs(set));
  return listed(set);
}

/** Cost in ns of reading every row of a set. */
export function walkNs(set: RowSet): number {
  const words = set.kind === 'bitmap' ? set.words.length : set.kind === 'complement' ? 3 * wordsFor(set.rows) : 0;
  return countRows(set) * COST.rowInOrder + words * COST.word;
}

/** Cost in ns of making a set from a list of this many rows in any order. */
export function setNs(length: number, rows: number): number {
  if (length > rows * DENSE_PART) return length * COST.bit + 2 * wordsFor(rows) * COST.word;
  if (isSortedByMarks(length, rows)) return length * COST.row + 2 * wordsFor(rows) * COST.word;
  return length * COST.sortedDigit * Math.ceil(Math.log2(length + 2));
}

/** The rows whose code is in the range. */
export function rowsOfRange(meter: Meter, index: FieldIndex, codes: CodeRange): RowSet {
  const gathered = index.rowsGathered(codes);
  if (gathered > 0) {
    meter.spend(COST.set + setNs(gathered, index.rows));
    meter.counters.postingsVisited += gathered;
  }
  return index.rowsOf(codes);
}

/** Cost in ns of finding the codes that link to a set of this many rows. */
export function codesLinkingNs(link: Link, rows: number): number {
  const length = link.targets?.length ?? 0;
  return isSearchedFor(link, rows) ? rows * COST.number : length * COST.rowInOrder + wordsFor(length) * COST.word;
}

/**
 * The codes of a link column that point at a row of `set`, and with `isNullIncluded` the codes that point at no row.
 */
export function codesPointingAt(
  meter: Meter,
  index: FieldIndex,
  link: Link,
  set: RowSet,
  isNullIncluded: boolean,
): RowSet {
  const rows = countRows(set);
  const isSearched = !isNullIncluded && isSearchedFor(link, rows);
  meter.spend(walkNs(set) + (isSearched ? rows * COST.number : codesLinkingNs(link, Infinity)));
  meter.counters.joinSteps += isSearched ? joinSteps(link, rows) : link.targets!.length;
  return codesLinkingTo(index, link, set, isNullIncluded);
}

/** Cost in ns of finding the row that a row of a link column points at. */
export function rowLinkNs({ targets }: Link): number {
  return targets ? COST.joined : COST.number;
}

/** The rows that the rows of a link column point at. */
export function linkedRows(meter: Meter, index: FieldIndex, link: Link, set: RowSet): RowSet {
  const rows = countRows(set);
  meter.spend(walkNs(set) + rows * rowLinkNs(link) + setNs(rows, link.to().rows));
  meter.counters.joinSteps += rows;
  return rowsLinkedFrom(index, link, set);
}

/** The rows of `from` that point at a row of `linked`, and with `isNullIncluded` the rows that point at no row. */
export function linkingRows(
  meter: Meter,
  index: FieldIndex,
  link: Link,
  sets: { readonly from: RowSet; readonly linked: RowSet; readonly isNullIncluded: boolean },
): RowSet {
  const rows = countRows(sets.from);
  meter.spend(walkNs(sets.from) + rows * (rowLinkNs(link) + searchNs(sets.linked)) + setNs(rows, index.rows));
  meter.counters.joinSteps += rows;
  return rowsLinkingTo(index, link, sets);
}

/** Cost in ns of testing a set for one row. */
function searchNs(set: RowSet): number {
  const asked = set.kind === 'complement' ? set.of : set;
  return asked.kind === 'list' ? COST.row * Math.ceil(Math.log2(asked.rows.length + 2)) : COST.row;
}

export function childCount(meter: Meter, table: Table, parents: RowSet): number {
  meter.spend(walkNs(parents) + countRows(parents) * COST.row);
  return countChildren(table, parents);
}

/** The `count` child rows of these parents. */
export function childrenOf(meter: Meter, table: Table, parents: RowSet, count: number): RowSet {
  meter.spend(walkNs(parents) + (countRows(parents) + count) * COST.joined + setNs(count, table.rows));
  meter.counters.joinSteps += count;
  return childRows(table, parents);
}

/** The parent rows of a set of child rows. `rows` is the size of the parent table. */
export function parentRows(meter: Meter, table: Table, set: RowSet, rows: number): RowSet {
  const children = countRows(set);
  meter.spend(walkNs(set) + children * COST.joined + wordsFor(rows) * COST.word);
  meter.counters.joinSteps += children;
  return parentsOf(table, set, rows);
}

/** The parent rows without child rows. `rows` is the size of the parent table. */
export function childlessRows(meter: Meter, table: Table, rows: number): RowSet {
  meter.spend(rows * COST.rowInOrder + wordsFor(rows) * COST.word);
  meter.counters.joinSteps += rows;
  const starts = table.starts!;
  const words = new Uint32Array(wordsFor(rows));
  for (let row = 0; row < rows; row++) if (starts[row] === starts[row + 1]) setBit(words, row);
  return ofBitmap(words);
}

/** Makes a set from a list of rows in any order. */
export function setOfList(meter: Meter, list: Uint32Array, rows: number): RowSet {
  meter.spend(setNs(list.length, rows));
  return rowSetOf(list, rows);
}

// Joins through links: finds the codes of a link column that point to a set of rows of the linked collection. These are
// semi-joins: they convert sets of rows and do not combine records.
import { setBit, hasBit, wordsFor } from '../bits/bitmap.ts';
import { GrowableU32 } from '../bits/growable.ts';
import { lowerBound } from '../bits/lists.ts';
import type { FieldIndex } from './field.ts';
import { asBitmap, countRows, eachRow, hasRow, ofBitmap, rowSetOf, type RowSet } from './rowset.ts';
import { type Link, rowOfId } from './table.ts';

/** The target of a code whose record does not exist. */
export const DANGLING = 0xffffffff;

/** A binary search among codes costs about as much as reading the targets of this many codes. */
const CODES_PER_SEARCH = 16;

/**
 * The row of each id, or `DANGLING` if it is not in `targetIds`; both are ascending. Cost: one merge. Only done while
 * importing: FORMAT.md, `.targets`.
 */
export function targetsOf(ids: Float64Array, targetIds: Float64Array): Uint32Array {
  const targets = new Uint32Array(ids.length);
  let row = 0;
  for (let code = 0; code < ids.length; code++) {
    while (row < targetIds.length && targetIds[row]! < ids[code]!) row++;
    targets[code] = row < targetIds.length && targetIds[row] === ids[code] ? row : DANGLING;
  }
  return targets;
}

/**
 * The codes whose link points to a row of `set`, as a set over the codes of the column. With `isNullIncluded` it adds
 * null and the codes of dangling links; not for links without targets. Cost: a binary search for each row of `set`, or
 * one pass over the codes if that is less.
 */
export function codesLinkingTo(index: FieldIndex, link: Link, set: RowSet, isNullIncluded: boolean): RowSet {
  const { targets } = link;
  if (!targets || (!isNullIncluded && isSearchedFor(link, countRows(set)))) return fewCodes(index, link, set);
  const words = new Uint32Array(wordsFor(targets.length + 1));
  const wanted = asBitmap(set, link.to().rows);
  for (let code = 0; code < targets.length; code++) {
    const target = targets[code]!;
    if (target === DANGLING ? isNullIncluded : hasBit(wanted, target)) setBit(words, code);
  }
  if (isNullIncluded) setBit(words, targets.length);
  return ofBitmap(words);
}

/** The rows that the links of a few rows point to. Cost: the rows, and a sort. */
export function rowsLinkedFrom(index: FieldIndex, link: Link, set: RowSet): RowSet {
  const linked = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    const target = targetOf(index, link, index.codeAt(row));
    if (target !== DANGLING) linked[length++] = target;
  });
  return rowSetOf(linked.subarray(0, length), link.to().rows);
}

/** The row that a code links to, or `DANGLING`. Cost: a binary search if the link has no targets. */
export function targetOf({ dictionary }: FieldIndex, { targets, to }: Link, code: number): number {
  if (targets) return targets[code] ?? DANGLING;
  const row = code < dictionary.fitting ? rowOfId(to(), dictionary.numbers![code]!) : -1;
  return row < 0 ? DANGLING : row;
}

/**
 * The rows of a small set `from` that point to a row of `linked`. `isNullIncluded` adds those with a null or dangling
 * link. Cost: the rows.
 */
export function rowsLinkingTo(
  index: FieldIndex,
  link: Link,
  { from, linked, isNullIncluded }: { from: RowSet; linked: RowSet; isNullIncluded: boolean },
): RowSet {
  const rows = new Uint32Array(countRows(from));
  let length = 0;
  eachRow(from, (row) => {
    const target = targetOf(index, link, index.codeAt(row));
    if (target === DANGLING ? isNullIncluded : hasRow(linked, target)) rows[length++] = row;
  });
  return rowSetOf(rows.subarray(0, length), index.rows);
}

/** Whether `codesLinkingTo` searches for each row of a set of this many rows. Otherwise it reads all codes. */
export function isSearchedFor({ targets }: Link, rows: number): boolean {
  return !targets || rows * CODES_PER_SEARCH < targets.length;
}

/** The number of elements that `codesLinkingTo` reads for a set of `rows` rows. */
export function joinSteps(link: Link, rows: number): number {
  return Math.min(rows * CODES_PER_SEARCH, link.targets?.length ?? Infinity);
}

/**
 * Ids ascend with rows and codes with ids, so that the resulting codes ascend too. The inner loop is needed because an
 * id may have two spellings (`07`).
 */
function fewCodes({ dictionary }: FieldIndex, link: Link, set: RowSet): RowSet {
  const ids = link.to().ids.dictionary.numbers!;
  const numbers = dictionary.numbers!;
  const codes = new GrowableU32();
  let code = 0;
  eachRow(set, (row) => {
    code = lowerBound(numbers, ids[row]!, code);
    for (; code < numbers.length && numbers[code] === ids[row]; code++) codes.push(code);
  });
  return { kind: 'list', rows: codes.view() };
}

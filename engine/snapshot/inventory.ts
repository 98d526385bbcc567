// Checks that a snapshot has the sections that its metadata and the declaration require, and that every number in them
// is in range. `verify --deep` checks that they agree with the records. Imports no index, because every loader of a
// snapshot imports this file.
import { countBits, hasBit } from '../bits/bitmap.ts';
import { type Outlines, PLACEHOLDER } from '../column/records.ts';
import { COLLECTIONS } from '../schema/catalogue.ts';
import { type ColumnLayout, hasNumbers } from '../schema/layout.ts';
import type { Section } from './directory.ts';
import type { Refusal } from './header.ts';
import { type LoadedSnapshot, type Sections, openSections } from './loaded.ts';
import { type CollectionCounts, readLayout, type Metadata, METADATA_NAME, readOutlines } from './metadata.ts';
import {
  BITMAPS,
  BLOCKS,
  DICTIONARY,
  ELEMENTS,
  GRAMS,
  METADATA,
  POSTINGS,
  RECORDS,
  runPath,
  type SectionArray,
  type SectionBound,
  type SectionCount,
  type SectionGroup,
  type SectionKind,
  sectionName,
  type SectionViews,
  TABLE,
  TARGETS,
  WORDS,
} from './sections.ts';

/**
 * Why the directory does not list exactly the sections that the declaration and the metadata require, in their order.
 * Cost: the number of listed sections, whatever the metadata claims.
 */
export function findMisnamedSection(listed: readonly Section[], metadata: Metadata): Refusal | undefined {
  const names = new Set(listed.map(({ name }) => name));
  let i = 0;
  for (const expected of expectedSections(metadata, names)) {
    const actual = listed[i];
    if (!actual || actual.name !== expected.name || !expected.widths.includes(actual.width))
      return describeMisnamed(i, actual, expected);
    i++;
  }
  return i < listed.length ? describeMisnamed(i, listed[i], undefined) : undefined;
}

/** The name of a section and the permitted widths of its elements. */
interface SectionForm {
  readonly name: string;
  readonly widths: readonly number[];
}

function describeMisnamed(i: number, actual: Section | undefined, expected: SectionForm | undefined): Refusal {
  const text = actual && sectionText({ name: actual.name, widths: [actual.width] });
  return {
    refusal: `section ${i} of the directory: ${text ?? 'none'}, expected ${expected ? sectionText(expected) : 'none'}`,
  };
}

function sectionText({ name, widths }: SectionForm): string {
  const text = widths.length === 1 ? widths[0] : `${widths.slice(0, -1).join(', ')} or ${widths.at(-1)}`;
  return `${name} in elements of ${text} bytes`;
}

/**
 * Columns with misfits have `fitting`, and those with much text an n-gram index or a word index. These are expected if
 * the directory lists them.
 */
function* expectedSections(metadata: Metadata, listed: ReadonlySet<string>): Generator<SectionForm> {
  const layouts = COLLECTIONS.map((collection) => readLayout(metadata, collection));
  for (const [i, { collection, tables, columns }] of layouts.entries()) {
    for (let run = 0; run < metadata.collections[i]!.chunks; run++)
      yield* sectionsIn(RECORDS, runPath(RECORDS, collection.name, run));
    for (const { path, parent } of tables) if (parent >= 0) yield* sectionsIn(TABLE, path);
    for (const { path, type, isId } of columns) {
      yield* sectionsIn(DICTIONARY, path, (name, key) => (key === 'numbers' ? hasNumbers(type) : listed.has(name)));
      if (listed.has(sectionName(GRAMS, 'keys', path))) yield* sectionsIn(GRAMS, path);
      if (listed.has(sectionName(WORDS, 'text', path))) yield* sectionsIn(WORDS, path);
      if (isId) continue;
      yield* sectionsIn(POSTINGS, path);
      yield* sectionsIn(BITMAPS, path);
    }
  }
  for (const { columns } of layouts)
    for (const { path, to } of columns) if (to !== undefined) yield* sectionsIn(TARGETS, path);
  yield* sectionsIn(METADATA, METADATA.path);
}

function sectionsIn(
  group: SectionGroup,
  path: string,
  isWanted: (name: string, key: string) => boolean = () => true,
): readonly SectionForm[] {
  return Object.entries(group.kinds)
    .map(([key, kind]) => ({ key, kind, name: sectionName(group, key, path) }))
    .filter(({ key, kind, name }) => !kind.isOptional || isWanted(name, key))
    .map(({ kind, name }) => ({ name, widths: ELEMENTS[kind.element] }));
}

/** Marks an id whose record does not exist. */
const NOWHERE = 0xffffffff;

/** The minimum bytes of an own URL, with the end of its text and record: `"},`. */
const URL_BYTES = PLACEHOLDER.length + 3;

const UTF8 = new TextEncoder();

type Numbers = Partial<Record<SectionCount | SectionBound, number>>;

/**
 * Why a number in the sections of a snapshot is out of range: a row, code, parent, outline or record that does not
 * exist, or an end after the end of its section. Sections that pass may disagree with the records, but no reader leaves
 * them. Cost: one pass over all sections except texts, numbers, record bytes and n-gram lists; 7 to 9 % of a load.
 */
export function findStrayNumber(loaded: LoadedSnapshot, metadata: Metadata): Refusal | undefined {
  const sections = openSections(loaded);
  const growth = UTF8.encode(loaded.baseUrl).length - PLACEHOLDER.length;
  const rows = new Map(metadata.collections.map(({ name, records }) => [name, records]));
  for (const [i, collection] of COLLECTIONS.entries()) {
    const { tables, columns } = readLayout(metadata, collection);
    const refusal = findStrayRecords({ sections, growth }, metadata, metadata.collections[i]!);
    if (refusal) return refusal;
    const rowsOf: number[] = [metadata.collections[i]!.records];
    for (const { path, parent } of tables) {
      if (parent < 0) continue;
      const parents = rowsOf[parent]!;
      const stray = findStray(sections, TABLE, path, { parents, 'one more than parents': parents + 1 });
      if (stray) return stray;
      rowsOf.push(sections.views(TABLE, path).parents.length);
    }
    for (const column of columns) {
      const stray = findStrayColumn(sections, column, rowsOf[column.table]!, rows.get(column.to ?? ''));
      if (stray) return stray;
    }
  }
  return undefined;
}

function findStrayRecords(
  { sections, growth }: { readonly sections: Sections; readonly growth: number },
  metadata: Metadata,
  { name, chunks, records }: CollectionCounts,
): Refusal | undefined {
  const { lists, keys } = readOutlines(metadata, name);
  const keyBytes = keys.map((key) => UTF8.encode(JSON.stringify(key)).length + ':'.length);
  let rows = 0;
  for (let i = 0; i < chunks; i++) {
    const path = runPath(RECORDS, name, i);
    const run = sections.views(RECORDS, path);
    // Ends count placeholders, but `run.bytes` already has the base URL in their place.
    const bytes = run.bytes.length - growth * run.links.length;
    const stray = findStray(sections, RECORDS, path, { outlines: lists.length }, { bytes });
    if (stray) return stray;
    const wrong = findStrayRecord(run, lists, keyBytes);
    if (wrong >= 0) return describeStray(sectionName(RECORDS, 'ends', path), wrong);
    rows += run.ends.length;
  }
  return rows === records ? undefined : describeStray(METADATA_NAME, records);
}

/**
 * The first invalid record, or -1. Its members and own URLs must ascend and be inside the record. It must have one
 * member for each key of its outline, with room for that key.
 */
function findStrayRecord(
  { ends, links, linkEnds, outlines, members, memberEnds }: SectionViews<typeof RECORDS>,
  lists: Outlines['lists'],
  keyBytes: readonly number[],
): number {
  let [start, link, member] = [0, 0, 0];
  for (let row = 0; row < ends.length; row++) {
    const end = ends[row]!;
    if (end - start < 3) return row;
    if (linkEnds[row]! > link && (links[link]! < start || links[linkEnds[row]! - 1]! + URL_BYTES > end)) return row;
    const keys = lists[outlines[row]!]!;
    if (memberEnds[row]! - member !== keys.length) return row;
    for (let i = 0, before = 0; i < keys.length; i++, member++) {
      // The member before ends in a comma or brace, and a value has at least one byte.
      if (members[member]! < before + keyBytes[keys[i]!]! + 2 || members[member]! >= end - start) return row;
      before = members[member]!;
    }
    link = linkEnds[row]!;
    start = end;
  }
  return -1;
}

function findStrayColumn(
  sections: Sections,
  { path, isId, to }: ColumnLayout,
  rows: number,
  targetRows: number | undefined,
): Refusal | undefined {
  const codes = sections.views(DICTIONARY, path).ends.length;
  const numbers: Numbers = { 'one a code': isId ? rows : codes, 'codes + 1': codes + 1, 'codes + 2': codes + 2, rows };
  const all = { ...numbers, 'one a row': rows };
  const groups = isId ? [DICTIONARY] : [DICTIONARY, POSTINGS, BITMAPS];
  const texts = [GRAMS, WORDS].filter((group) => sections.has(group, path));
  for (const group of [...groups, ...texts, ...(to === undefined ? [] : [TARGETS])]) {
    const stray = findStray(sections, group, path, all);
    if (stray) return stray;
  }
  if (!isId) {
    const stray = findStrayBitmap(sections, path, rows);
    if (stray >= 0) return describeStray(sectionName(BITMAPS, 'bitmaps', path), stray);
  }
  const { targets } = sections.views(TARGETS, path);
  const wrong = targets.findIndex((target) => target >= (targetRows ?? 0) && target !== NOWHERE);
  return wrong < 0 ? undefined : describeStray(sectionName(TARGETS, 'targets', path), wrong);
}

/**
 * The first bitmap with another number of rows than its posting list, or with a row that does not exist; -1 if all are
 * valid.
 */
function findStrayBitmap(sections: Sections, path: string, rows: number): number {
  const { dense, bitmaps } = sections.views(BITMAPS, path);
  const { starts } = sections.views(POSTINGS, path);
  const words = 2 * Math.ceil(rows / 64);
  if (bitmaps.length !== dense.length * words) return bitmaps.length;
  for (let i = 0; i < dense.length; i++) {
    const bitmap = bitmaps.subarray(i * words, (i + 1) * words);
    if (countBits(bitmap) !== starts[dense[i]! + 1]! - starts[dense[i]!]!) return i;
    for (let row = rows; row < words * 32; row++) if (hasBit(bitmap, row)) return i;
  }
  return -1;
}

/**
 * Why a file of blocks does not contain the blocks of all records of a snapshot, in their order. Cost: a read of each
 * end.
 */
export function findStrayBlocks(blocks: LoadedSnapshot, snapshot: LoadedSnapshot): Refusal | undefined {
  const sections = openSections(snapshot);
  for (const { name } of COLLECTIONS) {
    for (let i = 0; sections.has(RECORDS, runPath(RECORDS, name, i)); i++) {
      const records = sections.views(RECORDS, runPath(RECORDS, name, i)).ends.length;
      const stray = findStray(openSections(blocks), BLOCKS, runPath(BLOCKS, name, i), { 'one a record': records });
      if (stray) return stray;
    }
  }
  return undefined;
}

/**
 * Returns a refusal if a section of a group is invalid: its number of elements differs from `numbers`, or an element
 * exceeds its bound. Sections that contain ends are checked against the loaded section that they divide, or against
 * `lengths`.
 */
function findStray(
  sections: Sections,
  group: SectionGroup,
  path: string,
  numbers: Numbers,
  lengths: Readonly<Record<string, number>> = {},
): Refusal | undefined {
  const views: Readonly<Record<string, SectionArray | undefined>> = sections.views(group, path);
  const known = { ...numbers };
  for (const key in group.kinds) {
    const { count, startsOf, endsOf, below }: SectionKind = group.kinds[key]!;
    const array = views[key];
    if (!array) continue;
    const name = sectionName(group, key, path);
    if (count && array.length !== (known[count] ??= array.length)) return describeStray(name, array.length);
    const bounded = startsOf ?? endsOf;
    const isStray = bounded
      ? (startsOf && array[0] !== 0) || !isAscendingTo(array as Uint32Array, lengths[bounded] ?? views[bounded]!.length)
      : below && !(array instanceof Uint32Array ? isBelow : isNarrowBelow)(array, known[below]!);
    if (isStray) return describeStray(name, array.length);
  }
  return undefined;
}

// One loop per array type: a loop that meets all types takes three times as long.

function isAscendingTo(ends: Uint32Array, last: number): boolean {
  let before = 0;
  for (let i = 0; i < ends.length; i++) {
    if (ends[i]! < before) return false;
    before = ends[i]!;
  }
  return before === last;
}

function isBelow(array: SectionArray, most: number): boolean {
  for (let i = 0; i < array.length; i++) if (array[i]! >= most) return false;
  return true;
}

function isNarrowBelow(array: SectionArray, most: number): boolean {
  for (let i = 0; i < array.length; i++) if (array[i]! >= most) return false;
  return true;
}

function describeStray(name: string, at: number): Refusal {
  return { refusal: `section ${name}: element or count ${at} leads outside of what it is of, expected it inside` };
}

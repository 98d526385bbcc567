// Whether the sections of a snapshot say what FORMAT.md promises: which there are, their offsets, order and agreement.
// For snapshots whose checksums are right; slow and thorough, never on the way to serving.
import { hasNumbers } from '../column/dictionary.ts';
import { targetsOf } from '../index/join.ts';
import { collectionNamed, COLLECTIONS } from '../schema/catalogue.ts';
import type { ColumnLayout } from '../schema/layout.ts';
import type { Section } from './directory.ts';
import type { Refusal } from './header.ts';
import { layoutIn, metadataOf, outlinesIn, type CollectionCounts, type Metadata } from './metadata.ts';
import type { Sections } from './loaded.ts';
import {
  BITMAPS,
  DICTIONARY,
  ELEMENTS,
  GRAMS,
  METADATA,
  POSTINGS,
  RECORDS,
  runPath,
  sectionName,
  TABLE,
  TARGETS,
  type SectionGroup,
} from './sections.ts';
import { verifyColumn, type InstantOf } from './verifyColumn.ts';
import { refusalIn, verifyForm, verifySame } from './verifyForm.ts';
import { checkOutlines } from './verifyMembers.ts';
import { verifyRun, type RunTally } from './verifyRun.ts';

const METADATA_NAME = sectionName(METADATA, 'bytes', METADATA.path);

/** What was looked at in one collection: own URLs, tables of embedded rows, values, index entries and bitmaps. */
export interface CollectionTally {
  readonly records: number;
  readonly links: number;
  readonly tables: number;
  readonly values: number;
  readonly postings: number;
  readonly bitmaps: number;
}

/**
 * The metadata of a snapshot, or why it is refused: its collections must be those of the declaration.
 * Cost: that of decoding it.
 */
export function verifyMetadata(sections: Sections): Metadata | Refusal {
  const names = COLLECTIONS.map(({ name }) => name).join();
  try {
    const metadata = metadataOf(sections);
    const found = metadata.collections.map(({ name }) => name).join();
    return found === names ? metadata : refusalIn(METADATA_NAME, `collections ${found}`, names);
  } catch (error) {
    return refusalIn(
      METADATA_NAME,
      `msgpack that cannot be read (${(error as Error).message})`,
      'counts by collection',
    );
  }
}

/**
 * Why the directory does not list exactly the sections that the declaration and the metadata ask for, in their order.
 */
export function misnamedSection(listed: readonly Section[], metadata: Metadata): Refusal | undefined {
  const names = new Set(listed.map(({ name }) => name));
  const expected = expectedSections(metadata, (path) => names.has(sectionName(GRAMS, 'keys', path)));
  for (let i = 0; i < Math.max(expected.length, listed.length); i++) {
    const [found, wanted] = [listed[i], expected[i]];
    if (found && wanted && found.name === wanted.name && wanted.widths.includes(found.width)) continue;
    const text = found && sectionText({ name: found.name, widths: [found.width] });
    return {
      refusal: `section ${i} of the directory: ${text ?? 'none'}, expected ${wanted ? sectionText(wanted) : 'none'}`,
    };
  }
  return undefined;
}

/**
 * Checks one collection loaded with the placeholder as base URL; yields a refusal at the first fault, returns what was
 * looked at. `counts` are those of a declared collection (`verifyMetadata`), `instantOf` is the one that import used.
 * Cost: one pass over all its sections.
 */
export function* verifyCollection(
  sections: Sections,
  metadata: Metadata,
  counts: CollectionCounts,
  instantOf: InstantOf,
): Generator<Refusal, CollectionTally> {
  const layout = layoutIn(metadata, collectionNamed(counts.name)!);
  const { records, links } = yield* verifyRecords(sections, metadata, counts);
  const rows: number[] = [records];
  for (const { path, parent } of layout.tables)
    if (parent >= 0) rows.push(yield* verifyTable(sections, path, rows[parent]!));
  const tally = { values: 0, postings: 0, bitmaps: 0, nulls: 0 };
  for (const column of layout.columns) {
    const found = yield* verifyColumn(sections, column, rows[column.table]!, instantOf, metadata.without);
    tally.values += found.values;
    tally.nulls += found.nulls;
    tally.bitmaps += found.bitmaps;
    tally.postings += column.isId ? 0 : rows[column.table]!;
    yield* verifyTargets(sections, column);
  }
  if (tally.nulls !== counts.nulls) {
    yield refusalIn(METADATA_NAME, `${counts.nulls} nulls in ${counts.name}`, String(tally.nulls));
  }
  return { records, links, tables: layout.tables.length - 1, ...tally };
}

/** The name of a section and the widths that its elements may have; which of several, verifyForm.ts judges. */
interface SectionForm {
  readonly name: string;
  readonly widths: readonly number[];
}

function sectionText({ name, widths }: SectionForm): string {
  const text = widths.length === 1 ? widths[0] : `${widths.slice(0, -1).join(', ')} or ${widths.at(-1)}`;
  return `${name} in elements of ${text} bytes`;
}

/** Which columns have an n-gram index follows from their texts, so that verifyColumn.ts judges it. */
function expectedSections(metadata: Metadata, isWithGrams: (path: string) => boolean): readonly SectionForm[] {
  const layouts = COLLECTIONS.map((collection) => layoutIn(metadata, collection));
  const collections = layouts.flatMap(({ collection, tables, columns }, i) => [
    ...Array.from({ length: metadata.collections[i]!.chunks }, (_, run) =>
      sectionsIn(RECORDS, runPath(RECORDS, collection.name, run)),
    ).flat(),
    ...tables.filter(({ parent }) => parent >= 0).flatMap(({ path }) => sectionsIn(TABLE, path)),
    ...columns.flatMap(({ path, type, isId }) => [
      ...sectionsIn(DICTIONARY, path, hasNumbers(type)),
      ...(isWithGrams(path) ? sectionsIn(GRAMS, path) : []),
      ...(isId ? [] : [...sectionsIn(POSTINGS, path), ...sectionsIn(BITMAPS, path)]),
    ]),
  ]);
  const targets = layouts
    .flatMap(({ columns }) => columns)
    .flatMap(({ path, to }) => (to === undefined ? [] : sectionsIn(TARGETS, path)));
  return [...collections, ...targets, ...sectionsIn(METADATA, METADATA.path)];
}

function sectionsIn(group: SectionGroup, path: string, isWithOptional = true): readonly SectionForm[] {
  return Object.entries(group.kinds)
    .filter(([, { isOptional }]) => isWithOptional || !isOptional)
    .map(([key, { element }]) => ({ name: sectionName(group, key, path), widths: ELEMENTS[element] }));
}

function* verifyRecords(
  sections: Sections,
  metadata: Metadata,
  { name, chunks, records }: CollectionCounts,
): Generator<Refusal, RunTally> {
  const outlines = yield* checkOutlines(METADATA_NAME, outlinesIn(metadata, name));
  const found = { records: 0, links: 0 };
  for (let i = 0; i < chunks; i++) {
    const run = yield* verifyRun(sections, runPath(RECORDS, name, i), outlines);
    found.records += run.records;
    found.links += run.links;
  }
  if (found.records !== records) yield refusalIn(METADATA_NAME, `${records} records in ${name}`, String(found.records));
  const { length } = outlines.outlines.lists;
  if (outlines.used !== length) yield refusalIn(METADATA_NAME, `${length} outlines of ${name}`, String(outlines.used));
  return found;
}

function* verifyTable(sections: Sections, path: string, parentRows: number): Generator<Refusal, number> {
  const { starts, parents } = yield* verifyForm(sections, TABLE, path, { 'one more than parents': parentRows + 1 });
  const orphan = firstOrphan(starts, parents);
  if (orphan >= 0) {
    const expected = `the parent of ${sectionName(TABLE, 'starts', '')}`;
    yield refusalIn(sectionName(TABLE, 'parents', path), `row ${orphan} of parent ${parents[orphan]}`, expected);
  }
  return parents.length;
}

function firstOrphan(starts: Uint32Array, parents: Uint32Array): number {
  for (let parent = 0; parent + 1 < starts.length; parent++) {
    for (let row = starts[parent]!; row < starts[parent + 1]!; row++) if (parents[row] !== parent) return row;
  }
  return -1;
}

/** Every id of a link column points at the row of the record that has it, at nothing where there is none. */
function* verifyTargets(sections: Sections, { path, to }: ColumnLayout): Generator<Refusal> {
  if (to === undefined) return;
  const { numbers } = sections.views(DICTIONARY, path);
  const { numbers: ids } = sections.views(DICTIONARY, `${to}/${collectionNamed(to)!.idField}`);
  const { targets } = sections.views(TARGETS, path);
  yield* verifySame(sectionName(TARGETS, 'targets', path), targets, targetsOf(numbers!, ids!));
}

// Whether the sections of a snapshot say what FORMAT.md promises: their offsets, order and agreement. For snapshots
// that have all of them (inventory.ts); slow and thorough, never on the way to serving.
import { DANGLING, targetsOf } from '../index/join.ts';
import { collectionNamed } from '../schema/catalogue.ts';
import type { ColumnLayout } from '../schema/layout.ts';
import type { Refusal } from './header.ts';
import { layoutIn, METADATA_NAME, outlinesIn, type CollectionCounts, type Metadata } from './metadata.ts';
import type { Sections } from './loaded.ts';
import { DICTIONARY, POSTINGS, RECORDS, runPath, sectionName, TABLE, TARGETS } from './sections.ts';
import { verifyColumn, type InstantOf } from './verifyColumn.ts';
import { refusalIn, verifyForm, verifySame } from './verifyForm.ts';
import { outlineCheck } from './verifyMembers.ts';
import { verifyRun, type RunTally } from './verifyRun.ts';

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
 * Checks one collection loaded with the placeholder as base URL; yields a refusal at the first fault, returns what was
 * looked at. `counts` are those of a declared collection (`readMetadata`), `instantOf` is the one that import used.
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
  const tally = { values: 0, postings: 0, bitmaps: 0, nulls: 0, dangling: 0 };
  for (const column of layout.columns) {
    const found = yield* verifyColumn(sections, column, rows[column.table]!, instantOf, metadata.without);
    tally.values += found.values;
    tally.nulls += found.nulls;
    tally.bitmaps += found.bitmaps;
    tally.postings += column.isId ? 0 : rows[column.table]!;
    tally.dangling += yield* verifyTargets(sections, column);
  }
  for (const key of ['nulls', 'dangling'] as const) {
    if (tally[key] !== counts[key])
      yield refusalIn(METADATA_NAME, `${counts[key]} ${key} in ${counts.name}`, String(tally[key]));
  }
  return { records, links, tables: layout.tables.length - 1, ...tally };
}

function* verifyRecords(
  sections: Sections,
  metadata: Metadata,
  { name, chunks, records }: CollectionCounts,
): Generator<Refusal, RunTally> {
  const outlines = outlineCheck(outlinesIn(metadata, name));
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

/**
 * Every id of a link column points at the row of the record that has it, at nothing where there is none; answers how
 * many rows have such an id. Misfits are no ids.
 */
function* verifyTargets(sections: Sections, { path, to }: ColumnLayout): Generator<Refusal, number> {
  if (to === undefined) return 0;
  const { numbers, fitting } = sections.views(DICTIONARY, path);
  const { numbers: ids } = sections.views(DICTIONARY, `${to}/${collectionNamed(to)!.idField}`);
  const { targets } = sections.views(TARGETS, path);
  yield* verifySame(sectionName(TARGETS, 'targets', path), targets, targetsOf(numbers!, ids!));
  const { starts } = sections.views(POSTINGS, path);
  const countAt = (code: number): number => starts[code + 1]! - starts[code]!;
  return targets.subarray(0, fitting?.[0]).reduce((sum, row, code) => sum + (row === DANGLING ? countAt(code) : 0), 0);
}

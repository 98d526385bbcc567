// Whether the sections of a snapshot say what FORMAT.md promises: which there are, their offsets, order and agreement.
// For snapshots whose checksums are right; slow and thorough, never on the way to serving.
import { hasPrefix } from '../bits/bytes.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { targetsOf } from '../index/join.ts';
import { collectionNamed, COLLECTIONS } from '../schema/catalogue.ts';
import { layoutOf, type ColumnLayout, type Layout } from '../schema/layout.ts';
import type { Section, Width } from './directory.ts';
import type { Refusal } from './header.ts';
import {
  decodeMetadata,
  fieldsIn,
  METADATA_SECTION,
  outlinesIn,
  type CollectionCounts,
  type Metadata,
} from './metadata.ts';
import type { Sections } from './loaded.ts';
import { misplacedLink } from './rebase.ts';
import { refused, verifyColumn, verifyEnds, verifyLength, type InstantOf } from './verifyColumn.ts';
import { checkOutlines, verifyMembers } from './verifyMembers.ts';

const PLACEHOLDER_BYTES = new TextEncoder().encode(PLACEHOLDER);
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What was looked at in one collection: own URLs, tables of embedded rows, values, index entries and bitmaps. */
export interface Tally {
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
    const metadata = decodeMetadata(sections.bytes(METADATA_SECTION));
    const found = metadata.collections.map(({ name }) => name).join();
    return found === names ? metadata : refused(METADATA_SECTION, `collections ${found}`, names);
  } catch (error) {
    return refused(
      METADATA_SECTION,
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
  const expected = expectedSections(metadata, (path) => names.has(`${path}.gramKeys`));
  for (let i = 0; i < Math.max(expected.length, listed.length); i++) {
    const [found, wanted] = [listed[i], expected[i]];
    if (found?.name === wanted?.name && hasWidth(found, wanted)) continue;
    return { refusal: `section ${i} of the directory: ${sectionText(found)}, expected ${sectionText(wanted)}` };
  }
  return undefined;
}

/**
 * Checks one collection loaded with the placeholder as base URL; yields a refusal at the first fault, returns what was
 * looked at. `instantOf` is the one that import used. Cost: one pass over all its sections.
 */
export function* verifyCollection(
  sections: Sections,
  metadata: Metadata,
  counts: CollectionCounts,
  instantOf: InstantOf,
): Generator<Refusal, Tally> {
  const layout = layoutNamed(metadata, counts.name);
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
    yield refused(METADATA_SECTION, `${counts.nulls} nulls in ${counts.name}`, String(tally.nulls));
  }
  return { records, links, tables: layout.tables.length - 1, ...tally };
}

/** `narrow` stands for 1, 2 or 4 bytes; which of them follows from the elements, so that verifyColumn.ts judges it. */
interface Expected {
  readonly name: string;
  readonly width: Width | 'narrow';
}

/** Which columns have an n-gram index follows from their texts, so that verifyColumn.ts judges it. */
function expectedSections(metadata: Metadata, hasGramSections: (path: string) => boolean): readonly Expected[] {
  const collections = COLLECTIONS.map(({ name }) => layoutNamed(metadata, name)).flatMap((layout, i) => [
    ...Array.from({ length: metadata.collections[i]!.chunks }, (_, chunk) => chunkSections(layout, chunk)).flat(),
    ...layout.tables
      .filter(({ parent }) => parent >= 0)
      .flatMap(({ path }) => named(path, ['rowStarts', 'parents'], 4)),
    ...layout.columns.flatMap((column) => columnSections(column, hasGramSections(column.path))),
  ]);
  const targets = COLLECTIONS.flatMap(({ name }) => layoutNamed(metadata, name).columns)
    .filter(({ to }) => to !== undefined)
    .flatMap(({ path }) => named(path, ['targets'], 4));
  return [...collections, ...targets, { name: METADATA_SECTION, width: 1 }];
}

function chunkSections({ collection }: Layout, chunk: number): readonly Expected[] {
  const path = `${collection.name}/records/${chunk}`;
  return [
    ...named(path, ['bytes'], 1),
    ...named(path, ['ends', 'links', 'linkEnds'], 4),
    ...named(path, ['outlines', 'members'], 'narrow'),
    ...named(path, ['memberEnds'], 4),
  ];
}

function columnSections({ path, type, isId }: ColumnLayout, hasGramSections: boolean): readonly Expected[] {
  const hasNumbers = type !== 'text' && type !== 'boolean';
  return [
    ...named(path, ['text'], 1),
    ...named(path, ['textEnds'], 4),
    ...(hasNumbers ? named(path, ['numbers'], 8) : []),
    ...(hasGramSections ? [...named(path, ['gramKeys', 'gramEnds'], 4), ...named(path, ['gramPostings'], 1)] : []),
    ...(isId ? [] : named(path, ['codes'], 'narrow')),
    ...(isId ? [] : named(path, ['postingStarts', 'postings', 'dense', 'bitmaps'], 4)),
  ];
}

function named(path: string, parts: readonly string[], width: Expected['width']): readonly Expected[] {
  return parts.map((part) => ({ name: `${path}.${part}`, width }));
}

function hasWidth(found: Section | undefined, wanted: Expected | undefined): boolean {
  return wanted?.width === 'narrow' ? found?.width !== 8 : found?.width === wanted?.width;
}

function sectionText(section: Expected | undefined): string {
  if (!section) return 'none';
  return `${section.name} in elements of ${section.width === 'narrow' ? '1, 2 or 4' : section.width} bytes`;
}

/** Every id of a link column points at the row of the record that has it, at nothing where there is none. */
function* verifyTargets(sections: Sections, { path, to }: ColumnLayout): Generator<Refusal> {
  if (to === undefined) return;
  const targets = sections.u32(`${path}.targets`);
  const expected = targetsOf(
    sections.f64(`${path}.numbers`),
    sections.f64(`${to}/${collectionNamed(to)!.idField}.numbers`),
  );
  yield* verifyLength(`${path}.targets`, targets.length, expected.length);
  const wrong = expected.findIndex((target, code) => targets[code] !== target);
  if (wrong >= 0) yield refused(`${path}.targets`, `element ${wrong} is ${targets[wrong]}`, String(expected[wrong]));
}

function layoutNamed(metadata: Metadata, name: string): Layout {
  const collection = COLLECTIONS.find((candidate) => candidate.name === name);
  if (!collection) throw new Error(`no collection ${name} is declared`);
  return layoutOf(collection, fieldsIn(metadata, collection));
}

function* verifyRecords(
  sections: Sections,
  metadata: Metadata,
  { name, chunks, records }: CollectionCounts,
): Generator<Refusal, { records: number; links: number }> {
  const outlines = yield* checkOutlines(METADATA_SECTION, outlinesIn(metadata, name));
  let rows = 0;
  let links = 0;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const path = `${name}/records/${chunk}`;
    rows += sections.u32(`${path}.ends`).length;
    links += sections.u32(`${path}.links`).length;
    yield* verifyChunk(sections, path);
    yield* verifyMembers(sections, path, outlines);
  }
  if (rows !== records) yield refused(METADATA_SECTION, `${records} records in ${name}`, String(rows));
  const { length } = outlines.outlines.lists;
  if (outlines.used !== length) yield refused(METADATA_SECTION, `${length} outlines of ${name}`, String(outlines.used));
  return { records: rows, links };
}

function* verifyChunk(sections: Sections, path: string): Generator<Refusal> {
  const bytes = sections.bytes(`${path}.bytes`);
  const ends = sections.u32(`${path}.ends`);
  yield* verifyEnds(`${path}.ends`, ends, bytes.length);
  const unended = firstUnended(bytes, ends);
  if (unended >= 0)
    yield refused(`${path}.bytes`, `record ${unended} does not run from { to }`, '{, }, and a comma behind it');
  const links = sections.u32(`${path}.links`);
  const misfit = misplacedLink(links, bytes.length);
  if (misfit) yield { refusal: `section ${path}.links: ${misfit.refusal}` };
  const wrong = links.findIndex((at) => bytes[at - 1] !== QUOTE || !hasPrefix(bytes, PLACEHOLDER_BYTES, at));
  if (wrong >= 0) yield refused(`${path}.links`, `no own URL at ${links[wrong]}`, `"${PLACEHOLDER}`);
  const linkEnds = sections.u32(`${path}.linkEnds`);
  yield* verifyLength(`${path}.linkEnds`, linkEnds.length, ends.length);
  yield* verifyEnds(`${path}.linkEnds`, linkEnds, links.length);
  const stray = firstStrayLink({ ends, links, linkEnds });
  if (stray >= 0) yield refused(`${path}.linkEnds`, `record ${stray} with own URLs outside it`, 'each in its record');
}

function firstUnended(bytes: Uint8Array, ends: Uint32Array): number {
  let start = 0;
  for (let row = 0; row < ends.length; row++) {
    const end = ends[row]!;
    const isWhole = end - start >= 3 && bytes[start] === OPEN_BRACE && bytes[end - 2] === CLOSE_BRACE;
    if (!isWhole || bytes[end - 1] !== COMMA) return row;
    start = end;
  }
  return -1;
}

/** Links ascend, so that only the first and the last of a record can lie outside it. */
function firstStrayLink(chunk: { ends: Uint32Array; links: Uint32Array; linkEnds: Uint32Array }): number {
  const { ends, links, linkEnds } = chunk;
  let start = 0;
  let link = 0;
  for (let row = 0; row < ends.length; row++) {
    const end = linkEnds[row]!;
    if (end > link && (links[link]! < start || links[end - 1]! >= ends[row]!)) return row;
    start = ends[row]!;
    link = end;
  }
  return -1;
}

function* verifyTable(sections: Sections, path: string, parentRows: number): Generator<Refusal, number> {
  const starts = sections.u32(`${path}.rowStarts`);
  const parents = sections.u32(`${path}.parents`);
  yield* verifyLength(`${path}.rowStarts`, starts.length, parentRows + 1);
  if (starts[0] !== 0) yield refused(`${path}.rowStarts`, `element 0 is ${starts[0]}`, '0');
  yield* verifyEnds(`${path}.rowStarts`, starts, parents.length);
  const orphan = firstOrphan(starts, parents);
  if (orphan >= 0)
    yield refused(`${path}.parents`, `row ${orphan} of parent ${parents[orphan]}`, 'the parent of rowStarts');
  return parents.length;
}

function firstOrphan(starts: Uint32Array, parents: Uint32Array): number {
  for (let parent = 0; parent + 1 < starts.length; parent++) {
    for (let row = starts[parent]!; row < starts[parent + 1]!; row++) if (parents[row] !== parent) return row;
  }
  return -1;
}

// Opens a snapshot, and the blocks of its records, in shared memory. Every column becomes views; nothing is copied.
import { type BlockRun, joinBlocks, type RecordBlocks } from '../column/blocks.ts';
import { kernelBetween } from '../kernel/kernel.ts';
import { type LoadedSnapshot, type Sections, openSections } from './loaded.ts';
import { BITMAPS, BLOCKS, DICTIONARY, GRAMS, POSTINGS, RECORDS, runPath, TABLE, TARGETS, WORDS } from './sections.ts';
import { codesOfOption, type Dictionary, storedDictionary } from '../column/dictionary.ts';
import { type Outlines, PLACEHOLDER, type RecordChunk, type Records, topLevelKeys } from '../column/records.ts';
import { type FieldIndex, identityIndex, invertedIndex } from '../index/field.ts';
import { blockOf, type Grams } from '../index/grams.ts';
import { openWords } from '../index/words.ts';
import {
  type CollectionIndex,
  type FieldNode,
  type Link,
  type LinkOption,
  type Members,
  NO_MEMBERS,
  type Table,
} from '../index/table.ts';
import { COLLECTIONS } from '../schema/catalogue.ts';
import type { ColumnLayout, Layout, LayoutNode } from '../schema/layout.ts';
import { readLayout, type Metadata, decodeLoadedMetadata, readOutlines } from './metadata.ts';

/**
 * Returns a function that opens the blocks of a collection by name. Cost: a step per chunk, at the first call for a
 * collection.
 */
export function openBlocks(loaded: LoadedSnapshot, catalogue: Catalogue): (collection: string) => RecordBlocks {
  const sections = openSections(loaded);
  const opened = new Map<string, RecordBlocks>();
  return (collection) => {
    const known = opened.get(collection);
    if (known) return known;
    const { records } = catalogue.collection(collection);
    const chunks = records.chunks.map((_, i) => {
      const { independent, independentEnds, chained, chainedEnds, ...sums } = sections.views(
        BLOCKS,
        runPath(BLOCKS, collection, i),
      );
      const run = (bytes: Uint8Array, ends: Uint32Array): BlockRun => {
        const memory = sections.memory(bytes);
        return { bytes, ends, kernel: kernelBetween(memory, memory) };
      };
      return { independent: run(independent, independentEnds), chained: run(chained, chainedEnds), ...sums };
    });
    const blocks = joinBlocks(records, chunks);
    opened.set(collection, blocks);
    return blocks;
  };
}

/** A snapshot that is ready for queries. */
export interface Catalogue {
  readonly generation: string;
  readonly created: string | undefined;
  readonly baseUrl: string;
  readonly metadata: Metadata;
  /** Accepts all 34 names of the root view. Throws for other names. */
  collection(name: string): CollectionIndex;
}

/** Opens a loaded snapshot, whose checksums must have been verified. Cost: the number of sections; milliseconds. */
export function openSnapshot(loaded: LoadedSnapshot): Catalogue {
  // Searches and bitmaps look up the kernel of a memory by its buffer.
  for (const memory of loaded.memories) kernelBetween(memory, memory);
  const sections = openSections(loaded);
  const metadata = decodeLoadedMetadata(sections);
  const collections = new Map<string, CollectionIndex>();
  const findCollection = (name: string): CollectionIndex => {
    const index = collections.get(name);
    if (!index) throw new Error(`no collection ${name} is declared`);
    return index;
  };
  for (const collection of COLLECTIONS) {
    const layout = readLayout(metadata, collection);
    const outlines = readOutlines(metadata, collection.name);
    collections.set(collection.name, openCollection(sections, layout, { loaded, outlines, named: findCollection }));
  }
  return {
    generation: loaded.generation,
    created: loaded.created,
    baseUrl: loaded.baseUrl,
    metadata,
    collection: findCollection,
  };
}

/** The parts of a collection that are needed to open its members. */
interface Opening {
  readonly layout: Layout;
  readonly fields: readonly FieldIndex[];
  readonly links: readonly (Link | undefined)[];
  readonly tables: readonly Table[];
  readonly named: Around['named'];
}

/**
 * The surroundings of a collection: its snapshot, and the other collections, which `named` finds after all are opened.
 */
interface Around {
  readonly loaded: LoadedSnapshot;
  readonly outlines: Outlines;
  named(collection: string): CollectionIndex;
}

function openCollection(sections: Sections, layout: Layout, { loaded, outlines, named }: Around): CollectionIndex {
  const fields = layout.columns.map((column) => openField(sections, column));
  const links = layout.columns.map(({ path, to }) =>
    to === undefined ? undefined : { targets: sections.views(TARGETS, path).targets, to: () => named(to) },
  );
  const ids = fields[layout.columns.findIndex((column) => column.isId)]!;
  const tables = layout.tables.map(({ path, parent }): Table => {
    if (parent < 0) return { rows: ids.rows, starts: undefined, parents: undefined };
    const { starts, parents } = sections.views(TABLE, path);
    return { rows: parents.length, starts, parents };
  });
  return {
    declaration: layout.collection,
    rows: ids.rows,
    ids,
    members: openMembers({ layout, fields, links, tables, named }, layout.members),
    keys: topLevelKeys(
      layout.members.map(({ name }) => name),
      outlines,
    ),
    records: openRecords(sections, layout.collection.name, loaded.baseUrl, outlines),
  };
}

function openField(sections: Sections, column: ColumnLayout): FieldIndex {
  const { path, type } = column;
  const dictionary = storedDictionary(type, sections.views(DICTIONARY, path));
  if (column.isId) return identityIndex(dictionary);
  const { codes, starts, postings } = sections.views(POSTINGS, path);
  const { dense, bitmaps } = sections.views(BITMAPS, path);
  const words = sections.has(WORDS, path) ? openWords(sections.views(WORDS, path), dictionary.size) : undefined;
  return invertedIndex(
    dictionary,
    { codes, starts, postings, dense, bitmaps },
    { grams: openGrams(sections, path, dictionary), words },
  );
}

function openGrams(sections: Sections, path: string, dictionary: Dictionary): Grams | undefined {
  if (!sections.has(GRAMS, path)) return undefined;
  const { keys, ends, postings } = sections.views(GRAMS, path);
  return { keys, ends, postings, block: blockOf(dictionary) };
}

function openMembers(opening: Opening, nodes: readonly LayoutNode[]): Members {
  const members = new Map<string, FieldNode>();
  for (const node of nodes) {
    const opened = openNode(opening, node);
    if (opened) members.set(node.name, opened);
  }
  return members;
}

function openNode(opening: Opening, node: LayoutNode): FieldNode | undefined {
  const { name } = node;
  switch (node.kind) {
    case 'column':
      return {
        kind: 'values',
        name,
        index: opening.fields[node.column]!,
        members: NO_MEMBERS,
        link: opening.links[node.column],
        options: optionsAt(opening, node.column),
      };
    case 'record': {
      const members = openMembers(opening, node.members);
      return { kind: 'record', name, members, index: findIdField(members, node.idField) };
    }
    case 'table': {
      const members = openMembers(opening, node.members);
      const index = findIdField(members, node.idField);
      return { kind: 'many', name, table: opening.tables[node.table]!, members, index, isRelation: true };
    }
    case 'elements': {
      const isRelation = opening.layout.columns[node.column]!.type === 'link';
      const index = opening.fields[node.column]!;
      const table = opening.tables[node.table]!;
      return { kind: 'many', name, table, members: NO_MEMBERS, index, isRelation, link: opening.links[node.column] };
    }
    case 'opaque':
      return undefined;
  }
}

/**
 * The options of a generic link. The comma in their names is in no filter key, because lists of keys are split at it.
 */
function optionsAt({ layout, fields, named }: Opening, column: number): readonly LinkOption[] | undefined {
  const generic = layout.genericLinks.find(({ id }) => id === column);
  if (!generic) return undefined;
  const { lookup, collections, discriminator: field } = generic.link;
  const discriminator = fields[generic.discriminator]!;
  return Array.from(collections, ([text, to]): LinkOption => {
    const link = { targets: undefined, to: () => named(to) };
    const codes = codesOfOption(discriminator.dictionary, generic.link, text);
    const node = { kind: 'values', name: `,${text}`, index: fields[column]!, members: NO_MEMBERS, link } as const;
    return { node, discriminator, codes, field, lookup, text };
  });
}

function findIdField(members: Members, idField: string | undefined): FieldIndex | undefined {
  const id = idField === undefined ? undefined : members.get(idField);
  return id?.kind === 'values' ? id.index : undefined;
}

function openRecords(sections: Sections, name: string, baseUrl: string, outlines: Outlines): Records {
  const chunks: RecordChunk[] = [];
  let rows = 0;
  for (let i = 0; sections.has(RECORDS, runPath(RECORDS, name, i)); i++) {
    const run = sections.views(RECORDS, runPath(RECORDS, name, i));
    const kernel = kernelBetween(sections.memory(run.bytes), sections.memory(run.links));
    chunks.push({ firstRow: rows, ...run, kernel });
    rows += run.ends.length;
  }
  const growth = new TextEncoder().encode(baseUrl).length - PLACEHOLDER.length;
  return { rows, chunks, baseUrl, growth, outlines };
}

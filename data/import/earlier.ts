// A snapshot that was imported before, as the next import of nearly the same data uses it: collections that are carried
// over as they are, and what others hold, section by section. Builds nothing. With 1 % of the observations changed such
// an import takes 0.17 of a whole one.
import { readMetadata } from '../../engine/snapshot/checkMetadata.ts';
import { type Dictionary, storedDictionary } from '../../engine/column/dictionary.ts';
import { blockOf, type Grams } from '../../engine/index/grams.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { ColumnLayout } from '../../engine/schema/layout.ts';
import type { UnsignedArray } from '../../engine/bits/narrow.ts';
import { upperBound } from '../../engine/bits/lists.ts';
import { misnamedSection } from '../../engine/snapshot/inventory.ts';
import { layoutIn, outlinesIn, type Metadata } from '../../engine/snapshot/metadata.ts';
import {
  BITMAPS,
  DICTIONARY,
  GRAMS,
  linksOfRecords,
  METADATA,
  POSTINGS,
  RECORDS,
  runPath,
  sectionName,
  type SectionGroup,
  TABLE,
  TARGETS,
} from '../../engine/snapshot/sections.ts';
import type { Variant } from '../../engine/snapshot/variants.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import { OperationError } from '../operationError.ts';
import { accept } from '../store/load.ts';
import { SectionFile } from '../store/sectionFile.ts';
import type { BuiltCollection, LinkTargets } from './built.ts';
import type { EarlierRecords } from './recordStore.ts';
import type { CollectionFile } from './ndjson.ts';
import type { StoredBytes } from './recordBytes.ts';

/**
 * What a snapshot was imported from: the SHA-256 sums of its collections' files as the manifest had them, how many
 * faulty records of a file were left out where some were, whether nulls were taken, and the collections whose records
 * have keys that are not documented, of which a snapshot does not say all that was learnt.
 */
export interface Origin {
  readonly generation: string;
  readonly sums: Readonly<Record<string, string>>;
  readonly skipped: Readonly<Record<string, number>>;
  /** Absent where they were not. */
  readonly takesNulls?: boolean | undefined;
  readonly undeclared: readonly string[];
}

/** A snapshot file, and what it was imported from. */
export interface EarlierImport {
  readonly file: string;
  readonly origin: Origin;
}

/** A column of an earlier snapshot: its values, and the code of each row. */
export interface EarlierColumn {
  readonly dictionary: Dictionary;
  readonly codes: UnsignedArray;
  readonly grams: () => Grams | undefined;
  /**
   * Writes the sections of the column but its targets as they are, for an import that would write the same. Answers
   * where the rows of each code start among its rows by code, none for ids.
   */
  readonly carry: (writer: SnapshotWriter) => Uint32Array;
}

/** A collection of an earlier snapshot; a column that it has not is undefined. */
export interface EarlierCollection extends EarlierRecords {
  readonly ids: Float64Array;
  /** Where the rows of each parent start, and last where they end, in a documented table. */
  rowStarts(path: string): Uint32Array;
  column(path: string): EarlierColumn | undefined;
}

const COLUMN_GROUPS: readonly SectionGroup[] = [DICTIONARY, GRAMS, POSTINGS, BITMAPS];

function sectionsNamed(group: SectionGroup, path: string): readonly string[] {
  return Object.keys(group.kinds).map((key) => sectionName(group, key, path));
}

/** An earlier snapshot, held open until `close`. */
export class EarlierSnapshot {
  readonly #sections: SectionFile;
  readonly #origin: Origin;
  readonly #metadata: Metadata;
  readonly #alone: ReadonlySet<string>;

  /**
   * Opens one for an import without some index variants. Throws OperationError `snapshot` where it cannot serve: it is
   * none, of another schema, damaged, another than its origin says, or has other index variants.
   */
  constructor({ file, origin }: EarlierImport, without: readonly Variant[]) {
    const sections = new SectionFile(file, { isUncached: true });
    this.#sections = sections;
    this.#origin = origin;
    try {
      this.#metadata = metadataIn(sections);
      const { without: left = [] } = this.#metadata;
      if (sections.generation !== origin.generation) throw unfit(file, 'another generation than was noted');
      if (left.join() !== without.join()) throw unfit(file, 'made with other index variants');
    } catch (error) {
      this.close();
      throw error;
    }
    const names = sections.sections.map(({ name }) => name);
    this.#alone = new Set([...linksOfRecords(sections.sections).keys()].map((i) => names[i]!));
  }

  /** Gives the file back. */
  close(): void {
    this.#sections.close();
  }

  /** Whether a collection was imported from a file with the sum that its file has now. */
  isUnchanged({ collection, sha256 }: CollectionFile): boolean {
    return sha256 !== undefined && this.#origin.sums[collection] === sha256;
  }

  /** How many records of a collection's file were left out as faulty. */
  skippedOf(name: string): number {
    return this.#origin.skipped[name] ?? 0;
  }

  /** Whether a collection had records with keys that are not documented. */
  hasUndeclared(name: string): boolean {
    return this.#origin.undeclared.includes(name);
  }

  /** Writes all sections of a collection but its targets as they are. Cost: a copy. */
  carry(writer: SnapshotWriter, name: string): BuiltCollection {
    const targets = `.${sectionName(TARGETS, 'targets', '')}`;
    const isOwn = (section: string): boolean => section.startsWith(`${name}/`) && !section.endsWith(targets);
    const names = this.#sections.sections.map((section) => section.name).filter(isOwn);
    const recordBytes = this.#carryAll(writer, names);
    const { records, chunks, nulls } = this.#metadata.collections.find((one) => one.name === name)!;
    const { columns } = this.#layout(name);
    const links = columns.filter(({ to }) => to !== undefined).map((column) => this.#linksOf(column));
    return {
      records,
      ids: this.#ids(name),
      chunks,
      nulls,
      recordBytes,
      columns: columns.length,
      outlines: outlinesIn(this.#metadata, name),
      fields: this.#metadata.fields.find((one) => one.name === name)!.fields,
      targets: links,
      hasUndeclared: this.hasUndeclared(name),
    };
  }

  /** What a collection holds. Cost: a read of ids and positions; that of the others when they are asked for. */
  collection(name: string): EarlierCollection {
    const { chunks } = this.#metadata.collections.find((one) => one.name === name)!;
    const paths = Array.from({ length: chunks }, (_, i) => runPath(RECORDS, name, i));
    const layout = this.#layout(name);
    return {
      ids: this.#ids(name),
      outlines: outlinesIn(this.#metadata, name),
      runs: paths.map((path) => this.#sections.arrays(RECORDS, path)),
      bytes: this.#bytesOf(paths.map((path) => sectionName(RECORDS, 'bytes', path))),
      rowStarts: (path) => this.#sections.array(TABLE, 'starts', path),
      column: (path) => {
        const column = layout.columns.find((one) => one.path === path);
        return column && this.#columnOf(column);
      },
    };
  }

  /** Writes those of some sections that there are; answers the bytes of records among them. */
  #carryAll(writer: SnapshotWriter, names: readonly string[]): number {
    let recordBytes = 0;
    for (const name of names) {
      const section = this.#sections.section(name);
      if (!section) continue;
      const isAlone = this.#alone.has(name);
      if (isAlone) recordBytes += section.bytes;
      writer.carry(section, this.#sections.pieces(section), isAlone);
    }
    return recordBytes;
  }

  #layout(name: string): ReturnType<typeof layoutIn> {
    return layoutIn(this.#metadata, collectionNamed(name)!);
  }

  #ids(name: string): Float64Array {
    const { idField } = collectionNamed(name)!;
    return this.#sections.array(DICTIONARY, 'numbers', `${name}/${idField}`) ?? new Float64Array(0);
  }

  #columnOf({ path, type, isId }: ColumnLayout): EarlierColumn {
    const dictionary = storedDictionary(type, this.#sections.arrays(DICTIONARY, path));
    const { ends } = dictionary;
    return {
      dictionary,
      // Rows are in the order of ids: their codes are the rows.
      codes: isId ? Uint32Array.from(ends, (_, row) => row) : this.#sections.array(POSTINGS, 'codes', path),
      grams: () =>
        this.#sections.section(sectionName(GRAMS, 'keys', path))
          ? { ...this.#sections.arrays(GRAMS, path), block: blockOf(dictionary) }
          : undefined,
      carry: (writer) => {
        this.#carryAll(
          writer,
          COLUMN_GROUPS.flatMap((group) => sectionsNamed(group, path)),
        );
        return this.#sections.array(POSTINGS, 'starts', path);
      },
    };
  }

  #linksOf({ path, to }: ColumnLayout): LinkTargets {
    const starts = this.#sections.array(POSTINGS, 'starts', path);
    const ids = this.#sections.array(DICTIONARY, 'numbers', path) ?? new Float64Array(0);
    const counts = Uint32Array.from(ids, (_, code) => starts[code + 1]! - starts[code]!);
    return { path, to: to!, ids, counts };
  }

  #bytesOf(names: readonly string[]): StoredBytes {
    const sections = names.map((name) => this.#sections.section(name)!);
    const ends = new Float64Array(sections.length);
    sections.forEach(({ bytes }, i) => (ends[i] = (i === 0 ? 0 : ends[i - 1]!) + bytes));
    return {
      length: ends.at(-1) ?? 0,
      read: (from, target) => {
        for (let at = from; at < from + target.length;) {
          const i = upperBound(ends, at);
          const end = Math.min(from + target.length, ends[i]!);
          const start = i === 0 ? 0 : ends[i - 1]!;
          this.#sections.read(sections[i]!, at - start, target.subarray(at - from, end - from));
          at = end;
        }
      },
    };
  }
}

/** The metadata of a snapshot file whose sections are those that it asks for. Throws OperationError `snapshot`. */
export function metadataIn(sections: SectionFile): Metadata {
  const metadata = accept(sections.file, readMetadata(sections.array(METADATA, 'bytes', METADATA.path)));
  accept(sections.file, misnamedSection(sections.sections, metadata) ?? {});
  return metadata;
}

function unfit(file: string, why: string): OperationError {
  return new OperationError('snapshot', `${file}: ${why}`);
}

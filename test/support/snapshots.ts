// Snapshot files for tests: of a data set's lines with short record runs, or rewritten with changed sections. Rewriting
// corrects checksums and digest, so that only the content of the sections can be wrong.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { CollectionBuilder } from '../../data/import/build.ts';
import type { BuiltCollection } from '../../data/import/column.ts';
import { decodeLines, makeDecoder } from '../../data/import/decode.ts';
import { OperationError } from '../../data/operationError.ts';
import { writeSnapshot } from '../../data/store/store.ts';
import { writeTargets } from '../../data/import/collections.ts';
import { ImportThreads } from '../../data/import/threads.ts';
import { verifyFile } from '../../data/store/verify.ts';
import { verifyDeep } from '../../data/verifyDeep.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { decodeDirectory, type Directory, encodeDirectory, type Section } from '../../engine/snapshot/directory.ts';
import { decodeHeader, encodeHeader, HEADER_BYTES, isRefusal, paddedBytes } from '../../engine/snapshot/header.ts';
import {
  type CollectionCounts,
  type CollectionFields,
  type CollectionOutlines,
  encodeMetadata,
} from '../../engine/snapshot/metadata.ts';
import { METADATA, type SectionArray } from '../../engine/snapshot/sections.ts';

/** No threads: all work is done in the calling thread. */
const THREADS = new ImportThreads(0, {});

const link = (name: string, id: number): string => `{base_url}/api/v3/${name}/${id}/?format=api`;
const lines = (records: readonly object[]): string => records.map((record) => JSON.stringify(record)).join('\n');

/**
 * A small data set: 40 terms in 10 phenomena, whose `label` has one dense value and rare ones; links; dates; gaps in
 * ids.
 */
export const SMALL_TEXTS = {
  phenomona: lines(
    Array.from({ length: 10 }, (_, i) => ({
      ob_id: i * 3 + 1,
      names: i % 2 === 0 ? [] : [{ ob_id: 100 - i, name: `n${i}` }],
      terms: Array.from({ length: 4 }, (_unused, k) => ({
        ob_id: i * 4 + k,
        label: k > 0 ? 'units' : `l${i}`,
        value: '',
      })),
    })),
  ),
  platforms: lines([1, 2].map((id) => ({ ob_id: id }))),
  ipps: lines(
    [1, 2, 5].map((id) => ({ ob_id: id, platform: link('platforms', id), instrument: link('instruments', 1) })),
  ),
  migrationproperties: lines(['2020-01-02', 'never', '2019-01-02'].map((modified, id) => ({ id, modified }))),
};

/** Writes the snapshot of NDJSON texts by collection, records in runs of at most `chunkBytesMax` bytes. */
export async function snapshotOf(
  file: string,
  texts: Readonly<Record<string, string>>,
  chunkBytesMax?: number,
): Promise<void> {
  await writeSnapshot(file, async (writer) => {
    const fields: CollectionFields[] = [];
    const built = new Map<string, BuiltCollection>();
    const outlines: CollectionOutlines[] = [];
    const counts: CollectionCounts[] = [];
    for (const collection of COLLECTIONS) {
      const builder = new CollectionBuilder(collection, `${file}.records`);
      const bytes = Buffer.from(texts[collection.name] ?? '');
      const decoder = makeDecoder(collection.name);
      builder.add(decodeLines(decoder, { bytes, firstLine: 1, fileBytesRead: 0 }));
      builder.addTexts(decoder.finish());
      const one = await builder.write(writer, THREADS, chunkBytesMax === undefined ? {} : { chunkBytesMax });
      built.set(collection.name, one);
      fields.push({ name: collection.name, fields: one.fields });
      outlines.push({ name: collection.name, ...one.outlines });
      counts.push({ name: collection.name, records: one.records, chunks: one.chunks, nulls: one.nulls, dangling: 0 });
    }
    const links = writeTargets(writer, built);
    const collections = counts.map((one) => ({ ...one, dangling: links.get(one.name)!.dangling }));
    writer.add(METADATA, METADATA.path, { bytes: encodeMetadata({ collections, fields, outlines }) });
    return { created: undefined };
  });
}

/** The directory of a good snapshot file's bytes. */
export function directoryOf(bytes: Uint8Array): Directory {
  const header = decodeHeader(bytes, bytes.length);
  if (isRefusal(header)) throw new Error(header.refusal);
  const directory = decodeDirectory(bytes.subarray(header.directoryOffset), header);
  if (isRefusal(directory)) throw new Error(directory.refusal);
  return directory;
}

/**
 * Writes the bytes of `source` to `target` with the section entries of `restate`, and with correct header and checksum.
 */
export function restateSections(
  source: string,
  target: string,
  restate: (sections: readonly Section[]) => readonly Section[],
): void {
  const good = readFileSync(source);
  const { sections, ...rest } = directoryOf(good);
  const directoryOffset = Math.max(...sections.map(({ offset, bytes }) => offset + paddedBytes(bytes)));
  const directory = encodeDirectory({ ...rest, sections: restate(sections) });
  const header = encodeHeader(directoryOffset, directory);
  writeFileSync(target, Buffer.concat([header, good.subarray(HEADER_BYTES, directoryOffset), directory]));
}

/** A section by name. Its width determines the type of the elements. */
export interface NamedSection {
  readonly name: string;
  readonly elements: SectionArray;
}

/** Returns changed sections of a snapshot. */
export type Change = (sections: readonly NamedSection[]) => readonly NamedSection[];

/** Writes the sections of `source`, changed by `change`, to `target`. */
export async function rewriteSnapshot(source: string, target: string, change: Change): Promise<void> {
  const bytes = readFileSync(source);
  const { sections, created } = directoryOf(bytes);
  const changed = change(sections.map((section) => ({ name: section.name, elements: elementsOf(bytes, section) })));
  await writeSnapshot(target, (writer) => {
    for (const { name, elements } of changed) {
      if (elements instanceof Uint8Array && /\/records\/\d+\.bytes$/.test(name)) writer.addPieces(name, [elements]);
      else writer.addArray(name, elements);
    }
    return Promise.resolve({ created });
  });
}

function elementsOf(file: Uint8Array, { offset, bytes, width }: Section): SectionArray {
  const copy = Uint8Array.from(file.subarray(offset, offset + bytes));
  if (width === 1) return copy;
  if (width === 2) return new Uint16Array(copy.buffer);
  return width === 4 ? new Uint32Array(copy.buffer) : new Float64Array(copy.buffer);
}

/** Changes the elements of one section, which must exist, in place. */
export function within(name: string, change: (elements: SectionArray) => void): Change {
  return (sections) => {
    change(sections.find((section) => section.name === name)!.elements);
    return sections;
  };
}

/** Replaces the elements of one section. */
export function replaced(name: string, change: (elements: SectionArray) => SectionArray): Change {
  return (sections) => sections.map((one) => (one.name === name ? { name, elements: change(one.elements) } : one));
}

export function swap(elements: SectionArray, a: number, b: number): void {
  [elements[a], elements[b]] = [elements[b]!, elements[a]!];
}

/** Why `verify` refuses a snapshot file: the rest of its message, which starts with the name of the file. */
export async function refusalOf(file: string): Promise<string> {
  const error: unknown = await verifyFile(file, () => undefined).catch((thrown: unknown) => thrown);
  if (!(error instanceof OperationError)) throw new Error(`expected an OperationError, got ${String(error)}`);
  expect(error.code).toBe('snapshot');
  expect(error.message.startsWith(`${file}: `)).toBe(true);
  return error.message.slice(file.length + 2);
}

/** Why `verify --deep` refuses a snapshot file, or undefined if it finds no fault. */
export async function faultOf(file: string): Promise<string | undefined> {
  try {
    await verifyDeep(file, () => undefined);
    return undefined;
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return error.message;
  }
}

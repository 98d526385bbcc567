// Imports the collections one after the other: each is gathered from the lines of its file and then written, while the
// next one is gathered. Targets of links are written last, when the ids of all collections are known.
import type { LineFault } from './batch.ts';
import { OperationError } from '../operationError.ts';
import { DANGLING, targetsOf } from '../../engine/index/join.ts';
import { paddedBytes } from '../../engine/snapshot/header.ts';
import { filterName } from '../../engine/schema/layout.ts';
import { TARGETS, type Variant } from '../../engine/snapshot/sections.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import type { BuiltCollection } from './column.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { CollectionBuilder } from './build.ts';
import { type EarlierSnapshot, LineMatcher } from './earlier.ts';
import { MANIFEST_FILE } from './manifest.ts';
import type { ImportProfile } from '../importProfile.ts';
import { type CollectionFile, type DataSet, readLines } from './ndjson.ts';
import type { OnProgress } from '../progress.ts';
import { letGo } from '../threadsInOrder.ts';
import type { ImportThreads } from './threads.ts';

/** How many faulty lines are told one by one; the others are counted. */
export const FAULTS_TOLD = 20;

/** Those of `file`: `end` refuses them, unless the import `isLenient`. */
class Faults {
  /** FAULTS_TOLD at most of `count`. */
  readonly told: string[] = [];
  count = 0;
  #nulls = 0;
  readonly #file: string;
  readonly #isLenient: boolean;

  constructor(file: string, isLenient: boolean) {
    this.#file = file;
    this.#isLenient = isLenient;
  }

  add({ line, pointer, message, isNull }: LineFault): void {
    this.count++;
    if (isNull === true) this.#nulls++;
    if (this.told.length < FAULTS_TOLD)
      this.told.push(`${this.#file}:${line}: ${pointer === '' ? '' : `${pointer}: `}${message}`);
  }

  /** Throws OperationError `input`, which tells of all, where there are some that the import does not leave out. */
  end(): void {
    if (this.count === 0 || this.#isLenient) return;
    const more = this.count - this.told.length;
    const rest = more > 0 ? [`... and ${more} more`] : [];
    const cure = `${this.count} faulty line${this.count === 1 ? '' : 's'}; --lenient leaves such lines out`;
    const nulls = this.#nulls === 0 ? '' : `; --take-nulls takes the null that makes ${this.#nulls} of them faulty`;
    throw new OperationError('input', [...this.told, ...rest, cure + nulls].join('\n'));
  }
}

/**
 * What the links of one collection lead to: how many lead to no record, the first of them (`validTimePeriod to
 * times/4`), and the bytes of their sections.
 */
export interface LinkCounts {
  readonly dangling: number;
  readonly firstDangling: string | undefined;
  readonly bytes: number;
}

/**
 * Writes the targets of every link column; answers counts by collection. `built` has all collections by name, in the
 * order of the root view. Cost: a merge of each column's ids with those they link to.
 */
export function writeTargets(
  writer: SnapshotWriter,
  built: ReadonlyMap<string, BuiltCollection>,
): ReadonlyMap<string, LinkCounts> {
  const counts = new Map<string, LinkCounts>();
  for (const [name, { targets: links }] of built) {
    let dangling = 0;
    let firstDangling: string | undefined;
    let bytes = 0;
    for (const link of links) {
      const targets = targetsOf(link.ids, built.get(link.to)!.ids);
      writer.add(TARGETS, link.path, { targets });
      bytes += paddedBytes(targets.byteLength);
      for (let code = 0; code < targets.length; code++) {
        if (targets[code] !== DANGLING || Number.isNaN(link.ids[code])) continue;
        dangling += link.counts[code]!;
        firstDangling ??= `${filterName(link)} to ${link.to}/${link.ids[code]}`;
      }
    }
    counts.set(name, { dangling, firstDangling, bytes });
  }
  return counts;
}

/** A collection that is in the snapshot; `skipped` are the first of its faulty lines that were left out. */
export interface ImportedCollection {
  readonly collection: Collection;
  readonly built: BuiltCollection;
  readonly inputBytes: number;
  readonly indexBytes: number;
  readonly skipped: readonly string[];
  readonly skippedCount: number;
  /** The file and line of a record with misfits, if they are known. */
  readonly placeOf: (id: number) => string | undefined;
  /** What was kept of an earlier snapshot; undefined where all was imported. */
  readonly kept: 'all' | Uint8Array | undefined;
  readonly parsed: number;
}

interface Importing {
  readonly dataSet: DataSet;
  readonly threads: ImportThreads;
  readonly profile: ImportProfile;
  readonly writer: SnapshotWriter;
  readonly isLenient: boolean;
  readonly spillPath: string;
  readonly without: readonly Variant[];
  readonly earlier: EarlierSnapshot | undefined;
}

/** A collection whose lines are all read; it is to be written or closed. */
interface GatheredCollection {
  write(): Promise<ImportedCollection>;
  close(): void;
}

/**
 * Reads the lines of each collection and writes it, while those of the next are read where there are threads for both:
 * memory is that of two neighbours. Throws OperationError `input` for the faulty lines of a file, and for another
 * number of records than the manifest says; `file` for what cannot be read or written.
 */
export async function importCollections(
  importing: Importing,
  onProgress: OnProgress,
): Promise<readonly ImportedCollection[]> {
  const { files } = importing.dataSet;
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  let before = 0;
  const imported: ImportedCollection[] = [];
  let writing: Promise<ImportedCollection> | undefined;
  let failure: { readonly reason: unknown } | undefined;
  for (const collection of COLLECTIONS) {
    const file = files.find((candidate) => candidate.collection === collection.name);
    const start = before;
    const gathering = gathered(importing, collection, file, (done) => {
      if (failure) throw failure.reason;
      onProgress({ phase: `importing ${collection.name}`, done: start + done, total, unit: 'bytes' });
    });
    const [written, next] = await Promise.allSettled([writing, gathering]);
    if (written.status === 'rejected' && next.status === 'fulfilled') next.value.close();
    if (written.status === 'rejected') throw written.reason;
    if (next.status === 'rejected') throw next.reason;
    if (written.value) imported.push(written.value);
    writing = next.value.write();
    writing.catch((reason: unknown) => (failure = { reason }));
    if (importing.threads.isSerial) await writing;
    before += file?.bytes ?? 0;
  }
  return writing ? [...imported, await writing] : imported;
}

/** Reads the lines of a collection; throws OperationError `input` where some are faulty. */
async function gathered(
  importing: Importing,
  collection: Collection,
  file: CollectionFile | undefined,
  onBytes: (done: number) => void,
): Promise<GatheredCollection> {
  const { writer, threads, profile, isLenient, spillPath, without, earlier } = importing;
  if (file && earlier?.isUnchanged(file)) {
    const write = async (): Promise<ImportedCollection> => {
      const start = writer.bytes;
      const built = earlier.carry(writer, collection.name);
      const skipped = { told: [], count: earlier.skippedOf(collection.name) };
      return importedOf(importing, { collection, file, built, start, kept: 'all', parsed: 0 }, skipped);
    };
    return { write, close: () => undefined };
  }
  const held =
    file && earlier?.hasUndeclared(collection.name) === false ? earlier.collection(collection.name) : undefined;
  const matcher = held && new LineMatcher(held, collection.idField);
  const builder = new CollectionBuilder(collection, spillPath, held);
  const close = (): void => builder.close();
  try {
    const faults = new Faults(file?.path ?? '', isLenient);
    const parsed = file ? await addLines(importing, { builder, faults, matcher }, file, onBytes) : 0;
    if (matcher) builder.keep(matcher.isKept);
    for (const { id, line, firstLine } of builder.repeatedIds()) {
      faults.add({ line, pointer: `/${collection.idField}`, message: `id ${id} stands on line ${firstLine} already` });
    }
    faults.end();
    const write = async (): Promise<ImportedCollection> => {
      const start = writer.bytes;
      const built = await builder.write(writer, threads, { without, profile }).finally(close);
      return importedOf(importing, { collection, file, built, start, kept: matcher?.isKept, parsed }, faults);
    };
    return { write, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Adds the lines of a file, or those that the matcher does not know; answers how many were parsed. */
async function addLines(
  { threads, profile }: Importing,
  { builder, faults, matcher }: { builder: CollectionBuilder; faults: Faults; matcher: LineMatcher | undefined },
  file: CollectionFile,
  onBytes: (done: number) => void,
): Promise<number> {
  const lines = readLines(file, profile);
  const wanted = matcher?.unmatched(lines) ?? lines;
  let parsed = 0;
  for await (const { batch, fileBytesRead } of threads.batches(file.collection, wanted, builder.spill)) {
    for (const fault of batch.faults) faults.add(fault);
    parsed += batch.ids.length;
    profile.measure('gathering', () => builder.add(batch));
    // These are kept.
    letGo({ ...batch, columns: undefined });
    onBytes(fileBytesRead);
  }
  builder.addTexts(await threads.texts(file.collection));
  return parsed;
}

interface Built extends Pick<ImportedCollection, 'collection' | 'built' | 'kept' | 'parsed'> {
  readonly file: CollectionFile | undefined;
  readonly start: number;
}

function importedOf(
  { writer, dataSet }: Importing,
  made: Built,
  { told: skipped, count: skippedCount }: Pick<Faults, 'told' | 'count'>,
): ImportedCollection {
  const { collection, built, file, start, kept, parsed } = made;
  const indexBytes = writer.bytes - start - built.recordBytes;
  if (file) compareCounts(file, built.records + skippedCount, dataSet.manifest.counts.get(collection.name));
  const inputBytes = file?.bytes ?? 0;
  const placeOf = (id: number): string | undefined => built.lineOf && `${file!.path}:${built.lineOf(id)}`;
  return { collection, built, inputBytes, indexBytes, skipped, skippedCount, placeOf, kept, parsed };
}

/** `lines` are all records of the file, those left out too. */
function compareCounts({ path }: CollectionFile, lines: number, counted = lines): void {
  if (lines === counted) return;
  const wanted = `${MANIFEST_FILE} counts ${counted}`;
  throw new OperationError('input', `${path} has ${lines} records, ${wanted}: the file is damaged, or of another time`);
}

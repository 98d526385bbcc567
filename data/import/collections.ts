// Imports one collection after another: gathers it from the lines of its file, then writes it while the next one is
// gathered. Link targets are written last, because they need the ids of all collections.
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
import { releaseBuffers } from '../threadsInOrder.ts';
import type { ImportThreads } from './threads.ts';

/** Errors that are reported one by one, at most. The others are counted. */
export const FAULTS_LISTED_MAX = 20;

/** The errors in the lines of `file`. `end` throws them unless the import is lenient. */
class Faults {
  /** At most FAULTS_LISTED_MAX of `count`. */
  readonly listed: string[] = [];
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
    if (this.listed.length < FAULTS_LISTED_MAX)
      this.listed.push(`${this.#file}:${line}: ${pointer === '' ? '' : `${pointer}: `}${message}`);
  }

  /** Throws OperationError `input`, which lists the errors, if a line has one and the import is not lenient. */
  end(): void {
    if (this.count === 0 || this.#isLenient) return;
    const unlisted = this.count - this.listed.length;
    const rest = unlisted > 0 ? [`... and ${unlisted} more`] : [];
    const cure = `${this.count} faulty line${this.count === 1 ? '' : 's'}; --lenient leaves such lines out`;
    const nulls = this.#nulls === 0 ? '' : `; --take-nulls takes the null that makes ${this.#nulls} of them faulty`;
    throw new OperationError('input', [...this.listed, ...rest, cure + nulls].join('\n'));
  }
}

/**
 * The links of one collection: how many lead to no record, the first of those (`validTimePeriod to times/4`), and the
 * bytes of the target sections.
 */
export interface LinkCounts {
  readonly dangling: number;
  readonly firstDangling: string | undefined;
  readonly bytes: number;
}

/**
 * Writes the targets of every link column. Returns counts by collection. `built` has all collections by name, in the
 * order of the root view. Cost: merging each column's ids with those of the collection it links to.
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
      if (!link.isGeneric) {
        writer.add(TARGETS, link.path, { targets });
        bytes += paddedBytes(targets.byteLength);
      }
      for (let code = 0; code < targets.length; code++) {
        if (targets[code] !== DANGLING || link.counts[code] === 0 || Number.isNaN(link.ids[code])) continue;
        dangling += link.counts[code]!;
        firstDangling ??= `${filterName(link)} to ${link.to}/${link.ids[code]}`;
      }
    }
    counts.set(name, { dangling, firstDangling, bytes });
  }
  return counts;
}

/** A collection that has been written. `skipped` are the first of the lines with errors that were skipped. */
export interface ImportedCollection {
  readonly collection: Collection;
  readonly built: BuiltCollection;
  readonly inputBytes: number;
  readonly indexBytes: number;
  readonly skipped: readonly string[];
  readonly skippedCount: number;
  /** The file and line of a record with misfits, if known. */
  readonly describePlace: (id: number) => string | undefined;
  /** The rows that were kept of an earlier snapshot; undefined if everything was imported. */
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

/** A collection whose lines have been read. Call `write` or `close`. */
interface GatheredCollection {
  write(): Promise<ImportedCollection>;
  close(): void;
}

/**
 * Reads the lines of each collection and writes it. If there are threads, the lines of the next collection are read
 * meanwhile, so memory is that of two neighbours. Throws OperationError `input` for the lines with errors of a file,
 * and if the number of records differs from the manifest's; `file` if something cannot be read or written.
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
    const gathering = buildCollection(importing, collection, file, (done) => {
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

/** Reads the lines of a collection. Throws OperationError `input` for lines with errors. */
async function buildCollection(
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
      const skipped = { listed: [], count: earlier.countSkipped(collection.name) };
      return describeImported(importing, { collection, file, built, start, kept: 'all', parsed: 0 }, skipped);
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
    for (const { id, line, firstLine } of builder.findRepeatedIds()) {
      faults.add({ line, pointer: `/${collection.idField}`, message: `id ${id} stands on line ${firstLine} already` });
    }
    faults.end();
    const write = async (): Promise<ImportedCollection> => {
      const start = writer.bytes;
      const built = await builder.write(writer, threads, { without, profile }).finally(close);
      return describeImported(importing, { collection, file, built, start, kept: matcher?.isKept, parsed }, faults);
    };
    return { write, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Adds the lines of a file, or those that the matcher does not find. Returns how many were parsed. */
async function addLines(
  { threads, profile }: Importing,
  { builder, faults, matcher }: { builder: CollectionBuilder; faults: Faults; matcher: LineMatcher | undefined },
  file: CollectionFile,
  onBytes: (done: number) => void,
): Promise<number> {
  const lines = readLines(file, profile);
  const selected = matcher?.filterUnmatched(lines) ?? lines;
  let parsed = 0;
  for await (const { batch, fileBytesRead } of threads.batches(file.collection, selected, builder.spill)) {
    for (const fault of batch.faults) faults.add(fault);
    parsed += batch.ids.length;
    profile.measure('gathering', () => builder.add(batch));
    // The builder still needs the buffers of the columns.
    releaseBuffers({ ...batch, columns: undefined });
    onBytes(fileBytesRead);
  }
  builder.addTexts(await threads.texts(file.collection));
  return parsed;
}

interface Built extends Pick<ImportedCollection, 'collection' | 'built' | 'kept' | 'parsed'> {
  readonly file: CollectionFile | undefined;
  readonly start: number;
}

function describeImported(
  { writer, dataSet }: Importing,
  source: Built,
  { listed: skipped, count: skippedCount }: Pick<Faults, 'listed' | 'count'>,
): ImportedCollection {
  const { collection, built, file, start, kept, parsed } = source;
  const indexBytes = writer.bytes - start - built.recordBytes;
  if (file) compareCounts(file, built.records + skippedCount, dataSet.manifest.counts.get(collection.name));
  const inputBytes = file?.bytes ?? 0;
  const describePlace = (id: number): string | undefined => built.lineOf && `${file!.path}:${built.lineOf(id)}`;
  return {
    collection,
    built,
    inputBytes,
    indexBytes,
    skipped,
    skippedCount,
    describePlace,
    kept,
    parsed,
  };
}

/** `lines` are all records of the file, including skipped ones. */
function compareCounts({ path }: CollectionFile, lines: number, counted = lines): void {
  if (lines === counted) return;
  const claim = `${MANIFEST_FILE} counts ${counted}`;
  throw new OperationError('input', `${path} has ${lines} records, ${claim}: the file is damaged, or of another time`);
}

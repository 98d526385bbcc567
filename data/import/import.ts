// Imports a data set directory: decodes every collection, writes the snapshot, counts what it found.
// One collection is in memory at a time; faults are collected per collection and told with file, line and JSON pointer.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { encodeMetadata } from '../../engine/snapshot/metadata.ts';
import { METADATA } from '../../engine/snapshot/sections.ts';
import { parseVariants, type Variant, VARIANTS } from '../../engine/snapshot/variants.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import type { LineFault } from '../decode/batch.ts';
import { CollectionBuilder } from './build.ts';
import type { BuiltCollection } from './built.ts';
import { type ColumnMakers, columnMakers } from './columnMakers.ts';
import { EarlierSnapshot, type EarlierImport, type Origin } from './earlier.ts';
import { inferredTypes } from './fields.ts';
import { startDecoders, type Decoders } from '../decode/decoders.ts';
import { LineMatcher } from './matchLines.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { ImportProfile, type StageTime } from '../importProfile.ts';
import { readLines, openDataSet, type CollectionFile, type DataSet } from './ndjson.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { letGo } from '../threadsInOrder.ts';
import { writeSnapshot } from '../store/store.ts';
import { writeTargets, type LinkCounts } from './targets.ts';

/**
 * What is imported to where, `without` some index variants, names with commas. `created` beats the manifest's data
 * time; `threads` 0 decodes in the calling thread. `isLenient` leaves faulty lines out; `takesNulls` takes null for
 * every declared value but an id, as if its key were missing: no line is faulty for it.
 */
export interface ImportOptions {
  readonly directory: string;
  readonly file: string;
  readonly created: string | undefined;
  readonly isLenient: boolean;
  readonly takesNulls?: boolean | undefined;
  readonly threads: number;
  readonly without?: string | undefined;
  /** A snapshot of nearly the same data, of which is taken what has not changed. The bytes are the same without it. */
  readonly earlier?: EarlierImport | undefined;
}

/**
 * What import found in one collection; bytes as stored, `nulls` over all its columns, `dangling` links without a
 * record, `firstDangling` the first of them.
 */
export interface CollectionReport {
  readonly name: string;
  readonly records: number;
  readonly inputBytes: number;
  readonly skipped: number;
  readonly nulls: number;
  readonly dangling: number;
  readonly firstDangling: string | undefined;
  readonly columns: number;
  readonly recordBytes: number;
  readonly indexBytes: number;
}

/**
 * The outcome of an import. `skipped` tells the lines that a lenient import left out, at most `FAULTS_TOLD` of
 * `skippedCount` and none of what is carried over, `ignored` the files that were not read though they are named as
 * collections are.
 */
export interface ImportReport {
  readonly collections: readonly CollectionReport[];
  readonly snapshotBytes: number;
  readonly generation: string;
  readonly skipped: readonly string[];
  readonly skippedCount: number;
  readonly ignored: readonly string[];
  readonly inferred: readonly InferredFields[];
  readonly origin: Origin;
  readonly work: ImportWork;
  /** What was kept of `earlier`, of collections that have something of it. */
  readonly kept: KeptRecords;
  /** CPU time of all threads. */
  readonly stages: readonly StageTime[];
}

/** What a snapshot has of an earlier one: all records of a collection, or those whose rows there are not 0. */
export type KeptRecords = ReadonlyMap<string, 'all' | Uint8Array>;

/**
 * How many collections were carried over whole, how many merged with what an earlier snapshot has of them, and how many
 * records were parsed.
 */
export interface ImportWork {
  readonly carried: number;
  readonly merged: number;
  readonly parsed: number;
}

/**
 * The fields of one collection that are neither declared nor as documents show them, each with its type, such as
 * `startTime text`.
 */
export interface InferredFields {
  readonly collection: string;
  readonly fields: readonly string[];
}

/** How many faulty lines are told one by one; the others are counted. */
export const FAULTS_TOLD = 20;

interface ImportedCollection {
  readonly collection: Collection;
  readonly built: BuiltCollection;
  readonly inputBytes: number;
  readonly indexBytes: number;
  readonly skipped: readonly string[];
  readonly skippedCount: number;
  /** What was kept of an earlier snapshot; undefined where all was imported. */
  readonly kept: 'all' | Uint8Array | undefined;
  readonly parsed: number;
}

/**
 * Imports a directory into a snapshot file. Throws OperationError: `input` for faulty lines and for files that are not
 * as the manifest says, `file` for what cannot be read or written, `usage` for a data time that is none or an unknown
 * variant. The file appears only when the import succeeded. Same input, same bytes.
 */
export async function importDirectory(options: ImportOptions, onProgress: OnProgress): Promise<ImportReport> {
  if (options.created !== undefined && Number.isNaN(parseInstant(options.created))) {
    throw new OperationError('usage', `--created ${options.created}: expected a time such as 2026-01-31T00:00:00Z`);
  }
  const without = variantsLeftOut(options.without);
  const profile = new ImportProfile();
  const dataSet = await openDataSet(options.directory);
  const threads = options.earlier ? 0 : options.threads;
  const decoders = startDecoders({ threads, takesNulls: options.takesNulls === true, profile });
  const makers = columnMakers(threads, profile);
  const earlier = options.earlier && !options.isLenient ? new EarlierSnapshot(options.earlier, without) : undefined;
  let reports: readonly CollectionReport[] = [];
  let skipped: readonly string[] = [];
  let inferred: readonly InferredFields[] = [];
  let undeclared: readonly string[] = [];
  let work: ImportWork = { carried: 0, merged: 0, parsed: 0 };
  let kept: KeptRecords = new Map();
  try {
    const fill = async (writer: SnapshotWriter, partial: string): Promise<{ created: string | undefined }> => {
      const spillPath = `${partial}-records`;
      const importing = {
        dataSet,
        decoders,
        makers,
        isReused: threads === 0,
        profile,
        writer,
        isLenient: options.isLenient,
        spillPath,
        without,
        earlier,
      };
      const imported = await importCollections(importing, onProgress);
      const links = writeTargets(writer, new Map(imported.map(({ collection, built }) => [collection.name, built])));
      reports = imported.map((one) => reportOf(one, links.get(one.collection.name)!));
      inferred = imported.map(({ collection, built }) => inferredOf(collection, built));
      skipped = imported.flatMap((one) => one.skipped).slice(0, FAULTS_TOLD);
      undeclared = imported.filter(({ built }) => built.hasUndeclared).map(({ collection }) => collection.name);
      work = workOf(imported);
      kept = new Map(imported.flatMap((one) => (one.kept ? [[one.collection.name, one.kept] as const] : [])));
      const bytes = encodeMetadata({
        collections: countsOf(reports, imported),
        fields: imported.map(({ collection, built }) => ({ name: collection.name, fields: built.fields })),
        outlines: imported.map(({ collection, built }) => ({ name: collection.name, ...built.outlines })),
        ...(without.length > 0 ? { without } : {}),
      });
      writer.add(METADATA, METADATA.path, { bytes });
      return { created: options.created ?? dataSet.manifest.created };
    };
    // Most of a refresh is a copy.
    const { bytes, generation } = await writeSnapshot(options.file, fill, { isUncached: earlier !== undefined });
    const origin = { generation, ...sourcesOf(dataSet, reports), takesNulls: options.takesNulls, undeclared };
    const skippedCount = reports.reduce((sum, one) => sum + one.skipped, 0);
    const found = { collections: reports, skipped, skippedCount, ignored: dataSet.ignored, inferred };
    return { ...found, snapshotBytes: bytes, generation, origin, work, kept, stages: profile.stageTimes() };
  } finally {
    earlier?.close();
    await Promise.all([decoders.close(), makers.close()]);
  }
}

/** The files of a snapshot, and how many faulty records of each were left out. */
function sourcesOf({ files }: DataSet, reports: readonly CollectionReport[]): Pick<Origin, 'sums' | 'skipped'> {
  const sums = files.flatMap(({ collection, sha256 }) => (sha256 === undefined ? [] : [[collection, sha256] as const]));
  const skipped = reports.filter((one) => one.skipped > 0).map((one) => [one.name, one.skipped] as const);
  return { sums: Object.fromEntries(sums), skipped: Object.fromEntries(skipped) };
}

function workOf(imported: readonly ImportedCollection[]): ImportWork {
  return {
    carried: imported.filter(({ kept }) => kept === 'all').length,
    merged: imported.filter(({ kept }) => kept !== undefined && kept !== 'all').length,
    parsed: imported.reduce((sum, { parsed }) => sum + parsed, 0),
  };
}

function variantsLeftOut(text: string | undefined): readonly Variant[] {
  const variants = text === undefined ? [] : parseVariants(text);
  if (variants) return variants;
  throw new OperationError('usage', `--without ${text}: expected one or more of ${VARIANTS.join(', ')}, with commas`);
}

interface Importing {
  readonly dataSet: DataSet;
  readonly decoders: Decoders;
  readonly makers: ColumnMakers;
  /** Whether lines are used up before the next are read. */
  readonly isReused: boolean;
  readonly profile: ImportProfile;
  readonly writer: SnapshotWriter;
  readonly isLenient: boolean;
  readonly spillPath: string;
  readonly without: readonly Variant[];
  readonly earlier: EarlierSnapshot | undefined;
}

async function importCollections(importing: Importing, onProgress: OnProgress): Promise<readonly ImportedCollection[]> {
  const { files } = importing.dataSet;
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  let before = 0;
  const imported: ImportedCollection[] = [];
  for (const collection of COLLECTIONS) {
    const file = files.find((candidate) => candidate.collection === collection.name);
    imported.push(
      await importCollection(importing, collection, file, (done) =>
        onProgress({ phase: `importing ${collection.name}`, done: before + done, total, unit: 'bytes' }),
      ),
    );
    before += file?.bytes ?? 0;
  }
  return imported;
}

async function importCollection(
  importing: Importing,
  collection: Collection,
  file: CollectionFile | undefined,
  onBytes: (done: number) => void,
): Promise<ImportedCollection> {
  const { writer, makers, profile, isLenient, spillPath, without, earlier } = importing;
  const start = writer.bytes;
  if (file && earlier?.isUnchanged(file)) {
    const built = earlier.carry(writer, collection.name);
    const skipped = { told: [], count: earlier.skippedOf(collection.name) };
    return importedOf(importing, { collection, file, built, start, kept: 'all', parsed: 0 }, skipped);
  }
  const held =
    file && earlier?.hasUndeclared(collection.name) === false ? earlier.collection(collection.name) : undefined;
  const matcher = held && new LineMatcher(held, collection.idField);
  const builder = new CollectionBuilder(collection, spillPath, held);
  try {
    const faults = new Faults(file?.path ?? '', isLenient);
    const parsed = file ? await addLines(importing, { builder, faults, matcher }, file, onBytes) : 0;
    if (matcher) builder.keep(matcher.isKept);
    for (const { id, line, firstLine } of builder.repeatedIds()) {
      faults.add({ line, pointer: `/${collection.idField}`, message: `id ${id} stands on line ${firstLine} already` });
    }
    faults.end();
    const built = await builder.write(writer, makers, { without, profile });
    return importedOf(importing, { collection, file, built, start, kept: matcher?.isKept, parsed }, faults);
  } finally {
    builder.close();
  }
}

/** Adds the lines of a file, or those that the matcher does not know; answers how many were parsed. */
async function addLines(
  { decoders, isReused, profile }: Importing,
  { builder, faults, matcher }: { builder: CollectionBuilder; faults: Faults; matcher: LineMatcher | undefined },
  file: CollectionFile,
  onBytes: (done: number) => void,
): Promise<number> {
  const lines = readLines(file, { profile, isReused });
  let parsed = 0;
  for await (const { batch, fileBytesRead } of decoders.batches(file.collection, matcher?.unmatched(lines) ?? lines)) {
    for (const fault of batch.faults) faults.add(fault);
    parsed += batch.ids.length;
    profile.measure('gathering', () => builder.add(batch));
    // Its bytes may be kept.
    letGo({ ...batch, bytes: undefined });
    onBytes(fileBytesRead);
  }
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
  return { collection, built, inputBytes, indexBytes, skipped, skippedCount, kept, parsed };
}

/** `lines` are all records of the file, those left out too. */
function compareCounts({ path }: CollectionFile, lines: number, counted = lines): void {
  if (lines === counted) return;
  const wanted = `${MANIFEST_FILE} counts ${counted}`;
  throw new OperationError('input', `${path} has ${lines} records, ${wanted}: the file is damaged, or of another time`);
}

/** The faulty lines of one file: told up to a number, counted beyond. */
class Faults {
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

  end(): void {
    if (this.count === 0 || this.#isLenient) return;
    const more = this.count - this.told.length;
    const rest = more > 0 ? [`... and ${more} more`] : [];
    const cure = `${this.count} faulty line${this.count === 1 ? '' : 's'}; --lenient leaves such lines out`;
    const nulls = this.#nulls === 0 ? '' : `; --take-nulls takes the null that makes ${this.#nulls} of them faulty`;
    throw new OperationError('input', [...this.told, ...rest, cure + nulls].join('\n'));
  }
}

function reportOf(
  { collection, built, inputBytes, indexBytes, skippedCount }: ImportedCollection,
  links: LinkCounts,
): CollectionReport {
  return {
    name: collection.name,
    records: built.records,
    inputBytes,
    skipped: skippedCount,
    nulls: built.nulls,
    dangling: links.dangling,
    firstDangling: links.firstDangling,
    columns: built.columns,
    recordBytes: built.recordBytes,
    indexBytes: indexBytes + links.bytes,
  };
}

function inferredOf(collection: Collection, { fields }: BuiltCollection): InferredFields {
  const known = [...collection.fields, ...collection.shown];
  return { collection: collection.name, fields: inferredTypes(known, fields) };
}

function countsOf(
  reports: readonly CollectionReport[],
  imported: readonly ImportedCollection[],
): { name: string; records: number; chunks: number; nulls: number; dangling: number }[] {
  return reports.map(({ name, records, nulls, dangling }, i) => {
    return { name, records, chunks: imported[i]!.built.chunks, nulls, dangling };
  });
}

// Imports a data set directory: decodes every collection, writes the snapshot, and reports counts. collections.ts moves
// the collections from their lines into the file.
import type { Collection } from '../../engine/schema/types.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { encodeMetadata, type FieldMisfits, listMisfits } from '../../engine/snapshot/metadata.ts';
import { METADATA, parseVariants, type Variant, VARIANTS } from '../../engine/snapshot/sections.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import type { BuiltCollection } from './column.ts';
import {
  FAULTS_LISTED_MAX,
  importCollections,
  type ImportedCollection,
  type LinkCounts,
  writeTargets,
} from './collections.ts';
import { type EarlierImport, EarlierSnapshot, type Origin } from './earlier.ts';
import { differingFields, typeText } from './fields.ts';
import { ImportProfile, type StageTime } from '../importProfile.ts';
import { type DataSet, openDataSet } from './ndjson.ts';
import { OperationError } from '../operationError.ts';
import { SectionFile } from '../store/sectionFile.ts';
import type { OnProgress } from '../progress.ts';
import { writeSnapshot } from '../store/store.ts';
import { ImportThreads } from './threads.ts';

/**
 * `without` names index variants to skip, separated by commas. `created` overrides the data time in the manifest. With
 * 0 `threads` the calling thread decodes. `isLenient` skips lines with errors. `takesNulls` accepts null for every
 * declared value except an id, as if its key were missing.
 */
export interface ImportOptions {
  readonly directory: string;
  readonly file: string;
  readonly created: string | undefined;
  readonly isLenient: boolean;
  readonly takesNulls?: boolean | undefined;
  readonly threads: number;
  readonly without?: string | undefined;
  /** A snapshot of nearly the same data. Unchanged parts are copied from it, with the same resulting bytes. */
  readonly earlier?: EarlierImport | undefined;
}

/**
 * The report on one collection. `nulls` are over all its columns. `dangling` links lead to no record; `firstDangling`
 * is the first of them. Bytes are as stored.
 */
export interface CollectionReport {
  readonly name: string;
  readonly records: number;
  readonly inputBytes: number;
  readonly skipped: number;
  readonly nulls: number;
  readonly dangling: number;
  readonly firstDangling: string | undefined;
  readonly recordBytes: number;
  readonly indexBytes: number;
}

/**
 * The outcome of an import. `skipped` are lines that a lenient import skipped: at most `FAULTS_LISTED_MAX` of
 * `skippedCount`, and none of carried collections. `ignored` are files that were not read although they are named after
 * a collection.
 */
export interface ImportReport {
  readonly collections: readonly CollectionReport[];
  readonly snapshotBytes: number;
  readonly generation: string;
  readonly skipped: readonly string[];
  readonly skippedCount: number;
  readonly ignored: readonly string[];
  readonly inferred: readonly InferredFields[];
  readonly misfits: readonly FieldMisfits[];
  readonly origin: Origin;
  readonly work: ImportWork;
  /** The records taken over from `earlier`, by collection. Collections without any are absent. */
  readonly kept: KeptRecords;
  /** CPU time of all threads. */
  readonly stages: readonly StageTime[];
}

/**
 * The records taken over from an earlier snapshot, by collection: all, or those whose row has a number other than 0.
 */
export type KeptRecords = ReadonlyMap<string, 'all' | Uint8Array>;

/**
 * The number of collections that were carried over completely, of collections that were merged with an earlier
 * snapshot, and of records that were parsed.
 */
export interface ImportWork {
  readonly carried: number;
  readonly merged: number;
  readonly parsed: number;
}

/** The undocumented fields of one collection, each with its type, such as `size integer`. */
export interface InferredFields {
  readonly collection: string;
  readonly fields: readonly string[];
}

/**
 * Imports a directory into a snapshot file. Throws OperationError `input` for lines with errors and files that
 * contradict the manifest, `file` if something cannot be read or written, `usage` for an invalid data time or an
 * unknown variant. The file appears only if the import succeeds. The same input gives the same bytes.
 */
export async function importDirectory(options: ImportOptions, onProgress: OnProgress): Promise<ImportReport> {
  if (options.created !== undefined && Number.isNaN(parseInstant(options.created))) {
    throw new OperationError('usage', `--created ${options.created}: expected a time such as 2026-01-31T00:00:00Z`);
  }
  const without = parseOmittedVariants(options.without);
  const profile = new ImportProfile();
  const dataSet = await openDataSet(options.directory);
  const reading = { takesNulls: options.takesNulls === true };
  const threads = new ImportThreads(options.earlier ? 0 : options.threads, reading, profile);
  const earlier = options.earlier && !options.isLenient ? new EarlierSnapshot(options.earlier, without) : undefined;
  let reports: readonly CollectionReport[] = [];
  let imported: readonly ImportedCollection[] = [];
  try {
    const fill = async (writer: SnapshotWriter, partial: string): Promise<{ created: string | undefined }> => {
      const { isLenient } = options;
      const spillPath = `${partial}-records`;
      const importing = { dataSet, threads, profile, writer, isLenient, spillPath, without, earlier };
      imported = await importCollections(importing, onProgress);
      const links = writeTargets(writer, new Map(imported.map(({ collection, built }) => [collection.name, built])));
      reports = imported.map((collection) => makeReport(collection, links.get(collection.collection.name)!));
      const bytes = encodeMetadata({
        collections: reports.map(({ name, records, nulls, dangling }, i) => {
          return { name, records, chunks: imported[i]!.built.chunks, nulls, dangling };
        }),
        fields: imported.map(({ collection, built }) => ({ name: collection.name, fields: built.fields })),
        outlines: imported.map(({ collection, built }) => ({ name: collection.name, ...built.outlines })),
        ...(without.length > 0 ? { without } : {}),
      });
      writer.add(METADATA, METADATA.path, { bytes });
      return { created: options.created ?? dataSet.manifest.created };
    };
    // With an earlier snapshot most of the work is copying (uncached.ts has the figures).
    const { bytes, generation } = await writeSnapshot(options.file, fill, { isUncached: earlier !== undefined });
    const inferred = imported.map(({ collection, built }) => reportInferred(collection, built));
    const undeclared = imported.filter(({ built }) => built.hasUndeclared).map(({ collection }) => collection.name);
    const misfits = readMisfits(options.file, imported);
    const origin = { generation, ...summariseSources(dataSet, reports), takesNulls: options.takesNulls, undeclared };
    const skipped = imported.flatMap((collection) => collection.skipped).slice(0, FAULTS_LISTED_MAX);
    const skippedCount = reports.reduce((sum, report) => sum + report.skipped, 0);
    const work = countWork(imported);
    const kept = new Map(
      imported.flatMap((collection) =>
        collection.kept ? [[collection.collection.name, collection.kept] as const] : [],
      ),
    );
    const contents = { collections: reports, skipped, skippedCount, ignored: dataSet.ignored, inferred, misfits };
    return { ...contents, snapshotBytes: bytes, generation, origin, work, kept, stages: profile.stageTimes() };
  } finally {
    earlier?.close();
    await threads.close();
  }
}

/** The sums of a snapshot's files, and how many records with errors of each were skipped. */
function summariseSources({ files }: DataSet, reports: readonly CollectionReport[]): Pick<Origin, 'sums' | 'skipped'> {
  const sums = files.flatMap(({ collection, sha256 }) => (sha256 === undefined ? [] : [[collection, sha256] as const]));
  const skipped = reports
    .filter((report) => report.skipped > 0)
    .map((report) => [report.name, report.skipped] as const);
  return { sums: Object.fromEntries(sums), skipped: Object.fromEntries(skipped) };
}

function countWork(imported: readonly ImportedCollection[]): ImportWork {
  return {
    carried: imported.filter(({ kept }) => kept === 'all').length,
    merged: imported.filter(({ kept }) => kept !== undefined && kept !== 'all').length,
    parsed: imported.reduce((sum, { parsed }) => sum + parsed, 0),
  };
}

function parseOmittedVariants(text: string | undefined): readonly Variant[] {
  const variants = text === undefined ? [] : parseVariants(text);
  if (variants) return variants;
  throw new OperationError('usage', `--without ${text}: expected one or more of ${VARIANTS.join(', ')}, with commas`);
}

function makeReport(
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
    recordBytes: built.recordBytes,
    indexBytes: indexBytes + links.bytes,
  };
}

function reportInferred(collection: Collection, { fields }: BuiltCollection): InferredFields {
  const inferred = differingFields(fields, collection.fields);
  return { collection: collection.name, fields: inferred.map(({ key, field }) => `${key} ${typeText(field)}`) };
}

function readMisfits(file: string, imported: readonly ImportedCollection[]): readonly FieldMisfits[] {
  const sections = new SectionFile(file);
  const placeOf = (name: string, id: number): string | undefined =>
    imported.find(({ collection }) => collection.name === name)!.describePlace(id);
  try {
    return listMisfits(sections.sections, (group, path) => sections.arrays(group, path), placeOf);
  } finally {
    sections.close();
  }
}

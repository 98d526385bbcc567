// The ids and digests of the records of a data set directory or a snapshot file, for comparing two of them. Both give a
// record the same digest, because both digest the served bytes, with the placeholder as base URL. If one snapshot was
// built from another, their common records are known, and are neither read nor hashed.
import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { GrowableBytes, GrowableF64 } from '../../engine/bits/growable.ts';
import { startOfPart } from '../../engine/bits/lists.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { CollectionCounts } from '../../engine/snapshot/metadata.ts';
import { DICTIONARY, RECORDS, runPath, sectionName } from '../../engine/snapshot/sections.ts';
import { attempt, currentDataPath } from '../files.ts';
import { readRequiredMetadata } from '../import/earlier.ts';
import type { KeptRecords } from '../import/import.ts';
import { type CollectionFile, openDataSet, readLines } from '../import/ndjson.ts';
import { orderById } from '../import/order.ts';
import { ImportThreads } from '../import/threads.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { SectionFile } from '../store/sectionFile.ts';

/** Neighbouring records are read together up to this many bytes. */
const RUN_BYTES = 256 << 10;

/** Bytes of a digest: the first half of a SHA-256. */
export const DIGEST_BYTES = 16;

/** The records of one collection: ascending ids, and their digests in the same order, `DIGEST_BYTES` each. */
export interface RecordDigests {
  readonly ids: Float64Array;
  readonly digests: Uint8Array;
}

/** The records of a catalogue by collection. An empty collection may be missing. */
export type CatalogueDigests = ReadonlyMap<string, RecordDigests>;

/**
 * The digests of a data set directory or a snapshot file. Throws OperationError `file`, `input` with file and line, or
 * `snapshot`. Cost: decoding every line in `threads` threads, or two passes over the records of a snapshot. Memory: 24
 * bytes a record, and a run of lines.
 */
export async function digestCatalogue(
  path: string,
  threads: number,
  onProgress: OnProgress,
): Promise<CatalogueDigests> {
  const isDirectory = attempt(`cannot read ${path}`, () => statSync(currentDataPath(path)).isDirectory());
  return isDirectory ? digestDirectory(path, threads, onProgress) : digestSnapshot(path, onProgress);
}

async function digestDirectory(
  directory: string,
  threadCount: number,
  onProgress: OnProgress,
): Promise<CatalogueDigests> {
  const { files } = await openDataSet(directory);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  // The import decides whether nulls are errors.
  const threads = new ImportThreads(threadCount, { takesNulls: true, keepsTexts: false });
  const all = new Map<string, RecordDigests>();
  let before = 0;
  try {
    for (const file of files) {
      const onBytes = (done: number): void =>
        onProgress({ phase: `reading ${file.collection}`, done: before + done, total, unit: 'bytes' });
      all.set(file.collection, await digestFile(threads, file, onBytes));
      before += file.bytes;
    }
  } finally {
    await threads.close();
  }
  return all;
}

async function digestFile(
  threads: ImportThreads,
  file: CollectionFile,
  onBytes: (done: number) => void,
): Promise<RecordDigests> {
  const draft = new DigestsDraft();
  for await (const { batch, fileBytesRead } of threads.batches(file.collection, readLines(file))) {
    const [fault] = batch.faults;
    if (fault) throw new OperationError('input', `${file.path}:${fault.line}: ${fault.pointer} ${fault.message}`);
    for (const [i, id] of batch.ids.entries())
      draft.add(id, batch.bytes.subarray(i === 0 ? 0 : batch.recordEnds[i - 1]!, batch.recordEnds[i]! - 1));
    onBytes(fileBytesRead);
  }
  // There are no texts; this frees the decoders of the file.
  await threads.texts(file.collection);
  return draft.finish(file.path);
}

/**
 * The digests of all records of a snapshot file. Throws OperationError `file`, and `snapshot` for damaged records.
 * Cost: two passes over the records.
 */
export function digestSnapshot(file: string, onProgress: OnProgress): CatalogueDigests {
  return withSections(file, (sections) => digestRemaining(sections, () => undefined, onProgress));
}

/**
 * The digests of the records in `before` that were not `kept`, and of the records in `after` that are new. Throws
 * OperationError `file`, and `snapshot` for damage anywhere in `after`, because carried sections have not been checked,
 * or in the records that are read of `before`. Cost: a checksum pass over `after`, and over the records of changed
 * collections in `before`. Memory: the ids of those, and 24 bytes per changed record.
 */
export function digestChanged(
  before: string,
  after: string,
  kept: KeptRecords,
): readonly [before: CatalogueDigests, after: CatalogueDigests] {
  return withSections(before, (old) =>
    withSections(after, (young) => {
      young.assertWhole(young.sections);
      const findYoungRows = (name: string): Known => {
        const rows = kept.get(name);
        return rows instanceof Uint8Array ? markRowsWithIds(readIds(young, name), readIds(old, name), rows) : rows;
      };
      return [digestRemaining(old, (name) => kept.get(name)), digestRemaining(young, findYoungRows)];
    }),
  );
}

function withSections<T>(file: string, work: (sections: SectionFile) => T): T {
  const sections = new SectionFile(file);
  try {
    return work(sections);
  } finally {
    sections.close();
  }
}

/** The records of a collection that are known to be in both: all, those whose rows are not 0, or none. */
type Known = 'all' | Uint8Array | undefined;

/** Marks the ids that are among `others` in a marked row. Both are ascending. */
function markRowsWithIds(ids: Float64Array, others: Float64Array, isMarked: Uint8Array): Uint8Array {
  let row = 0;
  return Uint8Array.from(ids, (id) => {
    while (row < others.length && others[row]! < id) row++;
    return others[row] === id ? isMarked[row]! : 0;
  });
}

function readIds(sections: SectionFile, name: string): Float64Array {
  const { idField } = collectionNamed(name)!;
  return sections.array(DICTIONARY, 'numbers', `${name}/${idField}`) ?? new Float64Array(0);
}

/** The digests of the records that are not known, by collection. */
function digestRemaining(
  sections: SectionFile,
  knownOf: (name: string) => Known,
  onProgress?: OnProgress,
): CatalogueDigests {
  const all = new Map<string, RecordDigests>();
  const { collections } = readRequiredMetadata(sections);
  const total = collections.reduce((sum, { records }) => sum + records, 0);
  let done = 0;
  for (const counts of collections) {
    const { name, records } = counts;
    const known = knownOf(name);
    onProgress?.({ phase: `reading ${name}`, done, total, unit: 'records' });
    done += records;
    if (known !== 'all') all.set(name, digestsIn(sections, counts, known));
  }
  return all;
}

/** The digests of the records of a collection that are not known. */
function digestsIn(
  sections: SectionFile,
  { name, chunks }: Pick<CollectionCounts, 'name' | 'chunks'>,
  known: Uint8Array | undefined,
): RecordDigests {
  const draft = new DigestsDraft();
  const ids = readIds(sections, name);
  const isLeft = (row: number): boolean => known?.[row] !== 1;
  let first = 0;
  for (let i = 0; i < chunks; i++) {
    const path = runPath(RECORDS, name, i);
    const ends = sections.array(RECORDS, 'ends', path);
    const bytes = sections.section(sectionName(RECORDS, 'bytes', path))!;
    for (let k = 0; k < ends.length; k++) {
      if (!isLeft(first + k)) continue;
      sections.assertWhole([bytes]);
      const [start, begin] = [startOfPart(ends, k), k];
      while (k + 1 < ends.length && isLeft(first + k + 1) && ends[k + 1]! - start <= RUN_BYTES) k++;
      const run = new Uint8Array(ends[k]! - start);
      sections.read(bytes, start, run);
      // A comma follows each record.
      for (let n = begin; n <= k; n++)
        draft.add(ids[first + n]!, run.subarray(startOfPart(ends, n) - start, ends[n]! - start - 1));
    }
    first += ends.length;
  }
  return draft.finish(sections.file);
}

class DigestsDraft {
  readonly #ids = new GrowableF64();
  readonly #digests = new GrowableBytes();

  /** Adds a record. No other thread may write to its bytes. */
  add(id: number, bytes: Uint8Array): void {
    this.#ids.push(id);
    this.#digests.push(hash('sha256', bytes, 'buffer').subarray(0, DIGEST_BYTES));
  }

  /** The added records by id. Throws OperationError `input` with `file` if an id occurs twice. */
  finish(file: string): RecordDigests {
    const ids = this.#ids.view();
    const { order, repeats } = orderById(ids);
    if (repeats.length > 0) throw new OperationError('input', `${file}: id ${ids[repeats[0]!.row]} occurs twice`);
    if (!order) return { ids, digests: this.#digests.view() };
    const digests = new Uint8Array(order.length * DIGEST_BYTES);
    for (const [i, row] of order.entries()) digests.set(digestAt(this.#digests.view(), row), i * DIGEST_BYTES);
    return { ids: Float64Array.from(order, (row) => ids[row]!), digests };
  }
}

export function digestAt(digests: Uint8Array, row: number): Uint8Array {
  return digests.subarray(row * DIGEST_BYTES, (row + 1) * DIGEST_BYTES);
}

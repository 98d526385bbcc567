// The ids and digests of all records of a data set directory or a snapshot file: what two of them are compared by. Both
// give a record the same digest, since both digest the bytes that are served, with the placeholder as base URL.
import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { GrowableBytes, GrowableF64 } from '../../engine/bits/growable.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { sectionsOf } from '../../engine/snapshot/loaded.ts';
import { DICTIONARY, RECORDS, runPath } from '../../engine/snapshot/sections.ts';
import { attempt, placeOf } from '../files.ts';
import { openDataSet, readLines, type CollectionFile } from '../import/ndjson.ts';
import { orderById } from '../import/order.ts';
import { ImportThreads } from '../import/threads.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { catalogueIn, loadSnapshot } from '../store/load.ts';

/** The bytes of a digest: the first half of a SHA-256. */
export const DIGEST_BYTES = 16;

/** The records of one collection: ids, ascending, and the digests in their order, `DIGEST_BYTES` each. */
export interface RecordDigests {
  readonly ids: Float64Array;
  readonly digests: Uint8Array;
}

/** The records of a catalogue by collection; one without records may be missing. */
export type CatalogueDigests = ReadonlyMap<string, RecordDigests>;

/**
 * The digests of what a path names, a data set directory or a snapshot file. Throws OperationError `file`, `input` with
 * file and line, or `snapshot`. Cost: decoding every line in `threads` threads, or a load and a pass; memory is 24
 * bytes a record, and meanwhile a run of lines or the snapshot.
 */
export async function digestsOf(path: string, threads: number, onProgress: OnProgress): Promise<CatalogueDigests> {
  const isDirectory = attempt(`cannot read ${path}`, () => statSync(placeOf(path)).isDirectory());
  return isDirectory ? ofDirectory(path, threads, onProgress) : digestsOfSnapshot(path, onProgress);
}

async function ofDirectory(directory: string, threadCount: number, onProgress: OnProgress): Promise<CatalogueDigests> {
  const { files } = await openDataSet(directory);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  // Whether nulls are faults is judged where it is imported.
  const threads = new ImportThreads(threadCount, { takesNulls: true, keepsTexts: false });
  const all = new Map<string, RecordDigests>();
  let before = 0;
  try {
    for (const file of files) {
      const onBytes = (done: number): void =>
        onProgress({ phase: `reading ${file.collection}`, done: before + done, total, unit: 'bytes' });
      all.set(file.collection, await ofFile(threads, file, onBytes));
      before += file.bytes;
    }
  } finally {
    await threads.close();
  }
  return all;
}

async function ofFile(
  threads: ImportThreads,
  file: CollectionFile,
  onBytes: (done: number) => void,
): Promise<RecordDigests> {
  const draft = new DigestsDraft();
  const lines = readLines(file, { memory: threads.memory });
  for await (const { batch, fileBytesRead } of threads.batches(file.collection, lines)) {
    const [fault] = batch.faults;
    if (fault) throw new OperationError('input', `${file.path}:${fault.line}: ${fault.pointer} ${fault.message}`);
    for (const [i, id] of batch.ids.entries())
      draft.add(id, batch.bytes.subarray(i === 0 ? 0 : batch.recordEnds[i - 1]!, batch.recordEnds[i]! - 1));
    onBytes(fileBytesRead);
  }
  // There are none; the decoders of the file go.
  await threads.texts(file.collection);
  return draft.finish(file.path);
}

/** The same of a snapshot file. */
export async function digestsOfSnapshot(file: string, onProgress: OnProgress): Promise<CatalogueDigests> {
  const loaded = await loadSnapshot(file, { baseUrl: PLACEHOLDER }, onProgress);
  const metadata = catalogueIn(file, loaded);
  const sections = sectionsOf(loaded);
  const all = new Map<string, RecordDigests>();
  for (const { name, chunks } of metadata.collections) {
    const { idField } = collectionNamed(name)!;
    const ids = sections.views(DICTIONARY, `${name}/${idField}`).numbers ?? new Float64Array(0);
    const draft = new DigestsDraft();
    for (let i = 0; i < chunks; i++) {
      const { bytes, ends } = sections.views(RECORDS, runPath(RECORDS, name, i));
      for (let k = 0, start = 0; k < ends.length; start = ends[k++]!)
        // A copy, since nothing is hashed from shared memory.
        draft.add(ids[draft.length]!, bytes.slice(start, ends[k]! - 1));
    }
    all.set(name, draft.finish(file));
  }
  return all;
}

/** The digests of records as they come. */
export class DigestsDraft {
  readonly #ids = new GrowableF64();
  readonly #digests = new GrowableBytes();

  /** How many records were added. */
  get length(): number {
    return this.#ids.length;
  }

  /** Adds a record, which no other thread may write. */
  add(id: number, bytes: Uint8Array): void {
    this.#ids.push(id);
    this.#digests.push(digestOf(bytes));
  }

  /** Those that were added, by id. Throws OperationError `input` with `file` where one id came twice. */
  finish(file: string): RecordDigests {
    const ids = this.#ids.view();
    const { order, repeats } = orderById(ids);
    if (repeats.length > 0) throw new OperationError('input', `${file}: id ${ids[repeats[0]!.row]} stands there twice`);
    if (!order) return { ids, digests: this.#digests.view() };
    const digests = new Uint8Array(order.length * DIGEST_BYTES);
    for (const [i, row] of order.entries()) digests.set(digestAt(this.#digests.view(), row), i * DIGEST_BYTES);
    return { ids: Float64Array.from(order, (row) => ids[row]!), digests };
  }
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer').subarray(0, DIGEST_BYTES);
}

/** The digest of the record of a row. */
export function digestAt(digests: Uint8Array, row: number): Uint8Array {
  return digests.subarray(row * DIGEST_BYTES, (row + 1) * DIGEST_BYTES);
}

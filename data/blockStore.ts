// The blocks of a snapshot's records as a file: made once for a snapshot and a base URL, checked whenever they are loaded.
// The file is a snapshot file with other sections: header, directory, checksums and the move to its name are those of store.ts.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { crcCombined, crcWithByte } from '../engine/bits/crc32.ts';
import { endOf, startOf, type Records } from '../engine/column/records.ts';
import { COLLECTIONS } from '../engine/schema/catalogue.ts';
import { BLOCKS_SECTION, blocksSection, blocksTitle } from '../engine/snapshot/openBlocks.ts';
import { openSnapshot, sectionsOf, type LoadedSnapshot } from '../engine/snapshot/open.ts';
import type { SnapshotWriter } from '../engine/snapshot/write.ts';
import type { DeflatedRun } from './deflate.ts';
import { startDeflaters, type Deflaters, type DeflateOrder } from './deflaters.ts';
import { attempt } from './files.ts';
import { removedBySignal } from './leftovers.ts';
import { loadSnapshot } from './load.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';
import { writeSnapshot } from './store.ts';

/** Blocks in shared memory, and what happened to come by them, for a line to people: the file, and why not another one. */
export interface LoadedBlocks {
  readonly loaded: LoadedSnapshot;
  readonly file: string | undefined;
  readonly isNew: boolean;
  readonly refusal: string | undefined;
}

/** Record bytes deflated at once: enough that a thread is not asked too often, few enough to be held twice. */
const RUN_BYTES = 4 << 20;
/** Below this many record bytes, starting threads takes longer than deflating. */
const INLINE_BYTES_MAX = 8 << 20;
const COMMA = 0x2c;
/** What `blocksFile` makes: the snapshot's name, its generation and the address. */
const KEPT_NAME = /^(.+)\.[0-9a-f]{12}-([0-9a-f]{8})\.blocks$/;

/** Where the blocks of a snapshot file are kept: beside it, under its generation and a hash of the base URL. Cost: none. */
export function blocksFile(
  snapshot: string,
  { generation, baseUrl }: Pick<LoadedSnapshot, 'generation' | 'baseUrl'>,
): string {
  const address = createHash('sha256').update(baseUrl).digest('hex').slice(0, 8);
  return `${snapshot}.${generation.slice(0, 12)}-${address}.blocks`;
}

/**
 * The blocks of a loaded snapshot: from `file` where it holds them, else made and kept there; without a `file`, or where it
 * cannot be written, made in the directory for temporary files and removed from there. A file that is damaged, or of other
 * records, is made again; one of another generation under the same names is removed. Throws OperationError `file` when nothing
 * can be written anywhere.
 * Cost: a load, or a deflation of all records in threads, one a core unless told otherwise: 24 s of CPU for 465 MB.
 */
export async function loadBlocks(
  loaded: LoadedSnapshot,
  { file, threads = availableParallelism() }: { readonly file: string | undefined; readonly threads?: number },
  onProgress: OnProgress,
): Promise<LoadedBlocks> {
  let refusal: string | undefined;
  const refused = (error: unknown): undefined => {
    if (!(error instanceof OperationError)) throw error;
    refusal = error.message;
  };
  if (file !== undefined && existsSync(file)) {
    const kept = await readBlocks(file, loaded, onProgress).catch(refused);
    if (kept) return { loaded: kept, file, isNew: false, refusal };
  }
  if (file !== undefined) {
    const made = await writeBlocks(file, loaded, threads, onProgress)
      .then(() => readBlocks(file, loaded, onProgress))
      .catch(refused);
    if (made) return { loaded: made, file, isNew: true, refusal };
  }
  const directory = temporaryDirectory();
  return removedBySignal(directory, async () => {
    try {
      const temporary = path.join(directory, 'records.blocks');
      await writeBlocks(temporary, loaded, threads, onProgress);
      return { loaded: await readBlocks(temporary, loaded, onProgress), file: undefined, isNew: true, refusal };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
}

function temporaryDirectory(): string {
  const failure = `cannot write to ${tmpdir()}: set TMPDIR to a directory that can be written`;
  return attempt(failure, () => mkdtempSync(path.join(tmpdir(), 'catalogue-replica-')));
}

/**
 * Makes the blocks of a snapshot file for a base URL and keeps them beside it, whatever was there; answers their file.
 * Throws OperationError `snapshot` or `file`. Cost: a load, and a deflation of all records.
 */
export async function keepBlocks(
  snapshot: string,
  { baseUrl, threads }: { readonly baseUrl: string; readonly threads: number },
  onProgress: OnProgress,
): Promise<string> {
  const loaded = await loadSnapshot(snapshot, { baseUrl }, onProgress);
  const file = blocksFile(snapshot, loaded);
  await writeBlocks(file, loaded, threads, onProgress);
  return file;
}

/** Removes what was kept for the same address and another generation of the snapshot: nobody asks for it again. */
function removeOutdated(file: string): void {
  const [, snapshot, address] = KEPT_NAME.exec(path.basename(file)) ?? [];
  if (snapshot === undefined) return;
  const directory = path.dirname(file);
  attempt(`cannot remove outdated files from ${directory}`, () => {
    for (const name of readdirSync(directory)) {
      const kept = KEPT_NAME.exec(name);
      const isOutdated = kept?.[1] === snapshot && kept[2] === address && name !== path.basename(file);
      if (isOutdated) rmSync(path.join(directory, name), { force: true });
    }
  });
}

/** Loads blocks and compares their title with what is wanted. */
async function readBlocks(file: string, wanted: LoadedSnapshot, onProgress: OnProgress): Promise<LoadedSnapshot> {
  const blocks = await loadSnapshot(file, { baseUrl: wanted.baseUrl }, onProgress);
  const title = Buffer.from(sectionsOf(blocks).bytes(BLOCKS_SECTION)).toString();
  if (title === blocksTitle(wanted)) return blocks;
  throw new OperationError('snapshot', `${file}: blocks of ${title}, expected ${blocksTitle(wanted)}`);
}

async function writeBlocks(
  file: string,
  loaded: LoadedSnapshot,
  threads: number,
  onProgress: OnProgress,
): Promise<void> {
  const catalogue = openSnapshot(loaded);
  const collections = COLLECTIONS.map(({ name }) => ({ name, records: catalogue.collection(name).records }));
  const total = collections.reduce((sum, { records }) => sum + bytesOf(records), 0);
  const deflaters = startDeflaters(loaded, total > INLINE_BYTES_MAX ? threads : 0);
  try {
    await writeSnapshot(file, async (writer) => {
      let done = 0;
      const onRun = (bytes: number): void => {
        done += bytes;
        onProgress({ phase: 'compressing records', done, total, unit: 'bytes' });
      };
      for (const { name, records } of collections) await writeCollection(writer, deflaters, { name, records }, onRun);
      writer.add(BLOCKS_SECTION, new TextEncoder().encode(blocksTitle(loaded)));
      return { created: undefined };
    });
    removeOutdated(file);
  } finally {
    await deflaters.close();
  }
}

function bytesOf({ chunks }: Records): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

async function writeCollection(
  writer: SnapshotWriter,
  deflaters: Deflaters,
  { name, records }: { readonly name: string; readonly records: Records },
  onRun: (bytes: number) => void,
): Promise<void> {
  for (const [i, chunk] of records.chunks.entries()) {
    const orders = runsOf(name, records, i);
    const runs: DeflatedRun[] = [];
    for await (const run of deflaters.runs(orders)) {
      const { first, end } = orders[runs.length]!.run;
      runs.push(run);
      onRun(endOf(chunk, records.growth, end - 1) - startOf(chunk, records.growth, first));
    }
    const section = (part: string): string => blocksSection(name, i, part);
    writer.addPieces(
      section('independent'),
      runs.map((run) => run.independent),
    );
    writer.add(section('independentEnds'), endsOf(runs.map((run) => run.independentEnds)));
    writer.addPieces(
      section('chained'),
      runs.map((run) => run.chained),
    );
    writer.add(section('chainedEnds'), endsOf(runs.map((run) => run.chainedEnds)));
    const crcs = joinedCrcs(runs);
    writer.add(section('crcs'), crcs);
    writer.add(section('sums'), sumsOf(records, i, crcs));
  }
}

/** The rows of a chunk in runs of at least one row and about `RUN_BYTES`. */
function runsOf(collection: string, records: Records, i: number): readonly DeflateOrder[] {
  const chunk = records.chunks[i]!;
  const orders: DeflateOrder[] = [];
  for (let first = 0; first < chunk.ends.length;) {
    const limit = startOf(chunk, records.growth, first) + RUN_BYTES;
    let end = first + 1;
    while (end < chunk.ends.length && endOf(chunk, records.growth, end) <= limit) end++;
    orders.push({ collection, run: { chunk: i, first, end } });
    first = end;
  }
  return orders;
}

/** Ends that count from their run's start as ends that count from the chunk's. */
function endsOf(runs: readonly Uint32Array[]): Uint32Array {
  const ends = new Uint32Array(runs.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let start = 0;
  for (const run of runs) {
    for (const end of run) ends[at++] = start + end;
    start += run[run.length - 1]!;
  }
  return ends;
}

function joinedCrcs(runs: readonly DeflatedRun[]): Uint32Array {
  const crcs = new Uint32Array(runs.reduce((sum, run) => sum + run.crcs.length, 0));
  let at = 0;
  for (const run of runs) {
    crcs.set(run.crcs, at);
    at += run.crcs.length;
  }
  return crcs;
}

/** CRC-32 of a chunk's bytes up to and with each record's comma. */
function sumsOf(records: Records, i: number, crcs: Uint32Array): Uint32Array {
  const chunk = records.chunks[i]!;
  let sum = 0;
  return crcs.map((crc, n) => {
    const length = endOf(chunk, records.growth, n) - startOf(chunk, records.growth, n);
    return (sum = crcCombined(sum, crcWithByte(crc, COMMA), length));
  });
}

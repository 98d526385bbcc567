// Makes a file of blocks: deflates all records of a loaded snapshot and writes them with their checksums. The file is a
// snapshot file with other sections. store.ts writes the header, directory and checksums, and renames the file.
import { combineCrcs, addByteToCrc } from '../../engine/bits/checksum.ts';
import { endOf, type Records, startOf } from '../../engine/column/records.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { BLOCKS, BLOCKS_TITLE, blocksTitle, runPath } from '../../engine/snapshot/sections.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import { type DeflatedRun, type DeflateOrder, type Deflaters, type DeflateSource, startDeflaters } from './deflate.ts';
import { isSound } from './earlierBlocks.ts';
import type { OnProgress } from '../progress.ts';
import { writeSnapshot } from '../store/store.ts';

/**
 * Record bytes in one run. Large enough to keep the overhead of messages to threads small, and small enough to be held
 * twice. It also fits the processor's caches: carrying blocks over takes a fifth less time than with four times as many
 * bytes.
 */
const RUN_BYTES = 1 << 20;
/** For fewer record bytes, starting threads takes longer than deflating. */
const INLINE_BYTES_MAX = 8 << 20;
const COMMA = 0x2c;

/** The number of records in a blocks file, and how many of them were not carried over completely. */
export interface BlockCounts {
  readonly records: number;
  readonly deflated: number;
}

/**
 * Writes the blocks of a snapshot to a file, replacing an existing one. `earlier` changes the cost, never the bytes.
 * Throws OperationError `file`. Cost: deflating every record that has no earlier block, or that follows other records
 * than before.
 */
export async function writeBlocks(
  file: string,
  { loaded, earlier }: DeflateSource,
  threads: number,
  onProgress: OnProgress,
): Promise<BlockCounts> {
  const usable = typeof earlier === 'string' && !isSound(earlier) ? undefined : earlier;
  const catalogue = openSnapshot(loaded);
  const collections = COLLECTIONS.map(({ name }) => ({ name, records: catalogue.collection(name).records }));
  const total = collections.reduce((sum, { records }) => sum + recordBytes(records), 0);
  const deflaters = startDeflaters({ loaded, earlier: usable }, total > INLINE_BYTES_MAX ? threads : 0);
  const counts = { records: 0, deflated: 0 };
  try {
    await writeSnapshot(file, async (writer) => {
      let done = 0;
      const onRun = ({ crcs, deflated }: DeflatedRun, bytes: number): void => {
        counts.records += crcs.length;
        counts.deflated += deflated;
        done += bytes;
        onProgress({ phase: 'compressing records', done, total, unit: 'bytes' });
      };
      for (const { name, records } of collections) await writeCollection(writer, deflaters, { name, records }, onRun);
      writer.add(BLOCKS_TITLE, BLOCKS_TITLE.path, { title: new TextEncoder().encode(blocksTitle(loaded)) });
      return { created: undefined };
    });
    return counts;
  } finally {
    await deflaters.close();
  }
}

function recordBytes({ chunks }: Records): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

async function writeCollection(
  writer: SnapshotWriter,
  deflaters: Deflaters,
  { name, records }: { readonly name: string; readonly records: Records },
  onRun: (run: DeflatedRun, bytes: number) => void,
): Promise<void> {
  for (const [i, chunk] of records.chunks.entries()) {
    const orders = splitIntoRuns(name, records, i);
    const runs: DeflatedRun[] = [];
    for await (const run of deflaters.runs(orders)) {
      const { first, end } = orders[runs.length]!.run;
      runs.push(run);
      onRun(run, endOf(chunk, records.growth, end - 1) - startOf(chunk, records.growth, first));
    }
    const crcs = joinCrcs(runs);
    writer.add(BLOCKS, runPath(BLOCKS, name, i), {
      independent: runs.map((run) => run.independent),
      independentEnds: joinEnds(runs.map((run) => run.independentEnds)),
      chained: runs.map((run) => run.chained),
      chainedEnds: joinEnds(runs.map((run) => run.chainedEnds)),
      crcs,
      sums: addLengths(records, i, crcs),
    });
  }
}

/** Cuts the rows of a chunk into runs of at least one row and at most `RUN_BYTES`, unless one row is larger. */
function splitIntoRuns(collection: string, records: Records, i: number): readonly DeflateOrder[] {
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

/** Concatenates ends that count from their run's start and makes them count from the chunk's start. */
function joinEnds(runs: readonly Uint32Array[]): Uint32Array {
  const ends = new Uint32Array(runs.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let start = 0;
  for (const run of runs) {
    for (const end of run) ends[at++] = start + end;
    start += run[run.length - 1]!;
  }
  return ends;
}

function joinCrcs(runs: readonly DeflatedRun[]): Uint32Array {
  const crcs = new Uint32Array(runs.reduce((sum, run) => sum + run.crcs.length, 0));
  let at = 0;
  for (const run of runs) {
    crcs.set(run.crcs, at);
    at += run.crcs.length;
  }
  return crcs;
}

/** For each record, the CRC-32 of the chunk's bytes up to and including the comma after that record. */
function addLengths(records: Records, i: number, crcs: Uint32Array): Uint32Array {
  const chunk = records.chunks[i]!;
  let sum = 0;
  return crcs.map((crc, n) => {
    const length = endOf(chunk, records.growth, n) - startOf(chunk, records.growth, n);
    return (sum = combineCrcs(sum, addByteToCrc(crc, COMMA), length));
  });
}

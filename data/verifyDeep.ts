// The deep check of a snapshot file: imports the file's own records again and compares the generations. Import is
// deterministic and a generation covers every byte, so a different generation means that index and records disagree.
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { RECORDS, runPath, sectionName } from '../engine/snapshot/sections.ts';
import type { CollectionCounts, Metadata } from '../engine/snapshot/metadata.ts';
import { attempt } from './files.ts';
import { readRequiredMetadata } from './import/earlier.ts';
import { importDirectory } from './import/import.ts';
import { withTemporaryFolder } from './leftovers.ts';
import { INLINE_BYTES_MAX } from './openDirectory.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';
import { SectionFile } from './store/sectionFile.ts';
import { verifyFile, type VerifyReport } from './store/verify.ts';

const NEWLINE = 0x0a;

/** Differing sections that an error names; the others are counted. */
const NAMED_SECTIONS_MAX = 5;

/**
 * Verifies a snapshot file as `verifyFile` does, then its index against its records. Throws OperationError `snapshot`
 * with both generations and the sections that differ. Cost: a verification, then the time and memory of an import;
 * temporary files of up to 2.5 times the snapshot.
 */
export async function verifyDeep(file: string, onProgress: OnProgress): Promise<VerifyReport> {
  const report = await verifyFile(file, onProgress);
  await withTemporaryFolder('', (folder) => compareImport(file, folder, onProgress));
  const outcome = 'the same generation, from the records of the file';
  return { ...report, checks: [...report.checks, { name: 'import again', outcome }] };
}

async function compareImport(file: string, folder: string, onProgress: OnProgress): Promise<void> {
  const original = new SectionFile(file);
  try {
    const metadata = readRequiredMetadata(original);
    const directory = path.join(folder, 'records');
    attempt(`cannot write ${directory}`, () => mkdirSync(directory));
    const bytes = await writeRecords(original, metadata, directory, onProgress);
    const copy = path.join(folder, 'again.snapshot');
    const options = {
      directory,
      file: copy,
      created: original.created,
      isLenient: false,
      // Stored records may have nulls that only --take-nulls accepts. The option changes nothing for other records.
      takesNulls: true,
      threads: bytes > INLINE_BYTES_MAX ? availableParallelism() : 0,
      without: metadata.without?.join(','),
    };
    const { generation } = await importDirectory(options, onProgress).catch((error: unknown) => {
      if (!(error instanceof OperationError) || error.code === 'file') throw error;
      const reason = error.message.replaceAll(`${directory}${path.sep}`, '');
      throw new OperationError('snapshot', `${file}: its records cannot be imported again:\n${reason}`, error);
    });
    if (generation === original.generation) return;
    throw new OperationError('snapshot', differenceText(original, generation, copy));
  } finally {
    original.close();
  }
}

/** Writes the records of each collection as NDJSON. Returns their bytes. */
async function writeRecords(
  original: SectionFile,
  { collections }: Metadata,
  directory: string,
  onProgress: OnProgress,
): Promise<number> {
  const total = collections.reduce((sum, counts) => sum + recordBytes(original, counts), 0);
  let done = 0;
  for (const counts of collections) {
    const target = path.join(directory, `${counts.name}.ndjson`);
    const descriptor = attempt(`cannot write ${target}`, () => openSync(target, 'wx'));
    try {
      for (const piece of linesIn(original, counts)) {
        attempt(`cannot write ${target}`, () => writeFileSync(descriptor, piece));
        done += piece.length;
        onProgress({ phase: 'writing the records', done, total, unit: 'bytes' });
        await setImmediate();
      }
    } finally {
      closeSync(descriptor);
    }
  }
  return total;
}

function recordBytes(original: SectionFile, { name, chunks }: CollectionCounts): number {
  let bytes = 0;
  for (let i = 0; i < chunks; i++) bytes += original.section(bytesName(name, i))!.bytes;
  return bytes;
}

/** The records of a collection in pieces, each valid until the next, with a newline for the comma after each record. */
function* linesIn(original: SectionFile, { name, chunks }: CollectionCounts): Generator<Uint8Array> {
  for (let i = 0; i < chunks; i++) {
    const section = original.section(bytesName(name, i))!;
    const ends = original.array(RECORDS, 'ends', runPath(RECORDS, name, i));
    let start = 0;
    let row = 0;
    for (const padded of original.pieces(section)) {
      const piece = padded.subarray(0, section.bytes - start);
      for (; row < ends.length && ends[row]! <= start + piece.length; row++) piece[ends[row]! - 1 - start] = NEWLINE;
      yield piece;
      start += piece.length;
    }
  }
}

function bytesName(collection: string, run: number): string {
  return sectionName(RECORDS, 'bytes', runPath(RECORDS, collection, run));
}

type Digests = ReadonlyMap<string, string>;

function digestsIn({ sections }: SectionFile): Digests {
  return new Map(sections.map(({ name, digest }) => [name, digest]));
}

function differenceText(original: SectionFile, generation: string, file: string): string {
  const imported = new SectionFile(file);
  try {
    const [actual, expected] = [original, imported].map(digestsIn) as [Digests, Digests];
    const all = [...new Set([...actual.keys(), ...expected.keys()])];
    const differing = all.filter((name) => actual.get(name) !== expected.get(name));
    const names = differing.slice(0, NAMED_SECTIONS_MAX);
    const unlisted = differing.length - names.length;
    return [
      `${original.file}: its index is not the one that import makes of its records`,
      `the file is generation ${original.generation}, its records import as ${generation}`,
      `sections that differ: ${names.join(', ')}${unlisted > 0 ? ` and ${unlisted} more` : ''}`,
      'do not serve it: import the data set again, with this version',
    ].join('\n');
  } finally {
    imported.close();
  }
}

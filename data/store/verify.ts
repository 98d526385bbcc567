// Verifies a snapshot file: everything that loading checks, then every digest, then every offset and order inside,
// then, if asked, every value against the records. Reads only; nothing is served from what it loads.
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { compareRecords, DIFFERENCES_TOLD, type Comparison } from '../../engine/snapshot/compareRecords.ts';
import { schemaHash } from '../../engine/snapshot/directory.ts';
import { ALIGNMENT, FORMAT_VERSION, paddedBytes } from '../../engine/snapshot/header.ts';
import { sectionsOf, type LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import type { Metadata } from '../../engine/snapshot/metadata.ts';
import { partsOf, type PartBytes } from '../../engine/snapshot/parts.ts';
import { verifyCollection, type CollectionTally } from '../../engine/snapshot/verify.ts';
import { foundAt, openFile, refuseNdjson } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { accept, catalogueIn, type HeldFile, loadHeld } from './load.ts';

/** So much is hashed between two turns of the event loop. */
const HASH_BYTES = 8 << 20;

/**
 * What was checked, each with what was found, the records of each collection, and the bytes of each part of the file;
 * if asked, what was compared with the records of each collection, else nothing.
 */
export interface VerifyReport {
  readonly generation: string;
  readonly created: string | undefined;
  readonly checks: readonly { readonly name: string; readonly outcome: string }[];
  readonly collections: readonly { readonly name: string; readonly records: number }[];
  readonly parts: readonly PartBytes[];
  readonly comparisons: ReadonlyMap<string, Comparison>;
}

/**
 * Verifies a snapshot file, if `isDeep` also against its records, from which it may differ (`differencesIn`). Throws
 * OperationError `snapshot` with the file, the section, what was found and what was expected; `file` when it cannot be
 * read. Cost: one read of the file, and memory as for serving it; if `isDeep` some 2 us a value more, and no
 * more memory.
 */
export async function verifyFile(path: string, onProgress: OnProgress, isDeep = false): Promise<VerifyReport> {
  const held = holdSnapshot(path);
  try {
    return await verifyHeld(held, onProgress, isDeep);
  } finally {
    closeSync(held.descriptor);
  }
}

/** A snapshot file that is held open, to be verified. Throws OperationError `file`, for a directory too. */
export function holdSnapshot(path: string): HeldFile {
  const found = foundAt(path);
  refuseNdjson(path, found);
  if (found?.isDirectory())
    throw new OperationError('file', `${path} is a directory: want a snapshot file, which import makes of it`);
  return { descriptor: openFile(path), file: path };
}

/** Verifies a snapshot file that is held open, as `verifyFile` does; it stays open. */
export async function verifyHeld(held: HeldFile, onProgress: OnProgress, isDeep = false): Promise<VerifyReport> {
  const { file: path } = held;
  const loaded = await loadHeld(held, { baseUrl: PLACEHOLDER }, onProgress);
  await verifyDigests(path, loaded, onProgress);
  const metadata = catalogueIn(path, loaded);
  const tallies = await verifySections(path, { loaded, metadata }, onProgress);
  return {
    generation: loaded.generation,
    created: loaded.created,
    checks: checksOf(loaded, [...tallies.values()]),
    collections: [...tallies].map(([name, { records }]) => ({ name, records })),
    parts: partsOf(loaded.sections),
    comparisons: isDeep ? await compareAll({ loaded, metadata }, onProgress) : new Map(),
  };
}

/** The first differences of all collections, one a line, and how many more there are; undefined where there is none. */
export function differencesIn({ comparisons }: VerifyReport): string | undefined {
  const all = [...comparisons.values()];
  const told = all.flatMap((one) => one.told).slice(0, DIFFERENCES_TOLD);
  const more = all.reduce((sum, { differences }) => sum + differences, 0) - told.length;
  return told.length === 0
    ? undefined
    : [...told, ...(more > 0 ? [`... and ${more} more differences`] : [])].join('\n');
}

interface Verified {
  readonly loaded: LoadedSnapshot;
  readonly metadata: Metadata;
}

function recordsIn({ collections }: Metadata): number {
  return collections.reduce((sum, { records }) => sum + records, 0);
}

/** Throws unless every section has the digest that the directory says: as loaded, which is as in the file. */
async function verifyDigests(
  path: string,
  { memories, sections, placements }: LoadedSnapshot,
  onProgress: OnProgress,
): Promise<void> {
  const places = new Map(placements.map((placement, i) => [placement, sections[i]!]));
  const total = [...places.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const [{ memory, offset }, section] of places) {
    const hash = createHash('sha256');
    const end = offset + paddedBytes(section.bytes);
    for (let at = offset; at < end; at += HASH_BYTES) {
      hash.update(new Uint8Array(memories[memory]!.buffer, at, Math.min(HASH_BYTES, end - at)));
      await setImmediate();
    }
    done += section.bytes;
    onProgress({ phase: 'hashing the snapshot', done, total, unit: 'bytes' });
    const digest = hash.digest('hex');
    if (digest === section.digest) continue;
    throw new OperationError(
      'snapshot',
      `${path}: section ${section.name}: digest ${digest}, expected ${section.digest}`,
    );
  }
}

async function verifySections(
  path: string,
  { loaded, metadata }: Verified,
  onProgress: OnProgress,
): Promise<ReadonlyMap<string, CollectionTally>> {
  const sections = sectionsOf(loaded);
  const total = recordsIn(metadata);
  const tallies = new Map<string, CollectionTally>();
  let done = 0;
  for (const counts of metadata.collections) {
    const step = verifyCollection(sections, metadata, counts, parseInstant).next();
    tallies.set(counts.name, accept(path, step.value));
    done += counts.records;
    onProgress({ phase: 'verifying offsets and order', done, total, unit: 'records' });
    await setImmediate();
  }
  return tallies;
}

async function compareAll(
  { loaded, metadata }: Verified,
  onProgress: OnProgress,
): Promise<ReadonlyMap<string, Comparison>> {
  const sections = sectionsOf(loaded);
  const total = recordsIn(metadata);
  const comparisons = new Map<string, Comparison>();
  let before = 0;
  for (const counts of metadata.collections) {
    const steps = compareRecords(sections, metadata, counts);
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      onProgress({ phase: `comparing ${counts.name}`, done: before + step.value, total, unit: 'records' });
      await setImmediate();
    }
    comparisons.set(counts.name, step.value);
    before += counts.records;
  }
  onProgress({ phase: 'comparing records', done: before, total, unit: 'records' });
  return comparisons;
}

function checksOf({ sections }: LoadedSnapshot, tallies: readonly CollectionTally[]): VerifyReport['checks'] {
  const sum = (part: keyof CollectionTally): string => String(tallies.reduce((total, tally) => total + tally[part], 0));
  return [
    { name: 'magic and version', outcome: `a snapshot in format ${FORMAT_VERSION}` },
    {
      name: 'lengths',
      outcome: `${sections.length} sections and the directory, without gaps or sharing a place, to the end of the file`,
    },
    { name: 'alignment', outcome: `every section at a multiple of ${ALIGNMENT} bytes` },
    { name: 'checksums', outcome: `header, directory and ${sections.length} sections` },
    { name: 'schema hash', outcome: schemaHash() },
    { name: 'digests', outcome: `SHA-256 of ${sections.length} sections, as the directory says` },
    { name: 'records', outcome: `${sum('records')} in order, each whole; ${sum('links')} own URLs in place` },
    { name: 'ids', outcome: 'ascending in every collection' },
    { name: 'embedded rows', outcome: `${sum('tables')} tables, each row with its parent` },
    { name: 'values', outcome: `${sum('values')}, ascending in every column` },
    { name: 'posting lists', outcome: `${sum('postings')} entries, each row once in every column` },
    { name: 'bitmaps', outcome: `${sum('bitmaps')}, each the rows of its posting list` },
  ];
}

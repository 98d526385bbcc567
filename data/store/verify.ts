// Verifies a snapshot file: all checks of a load, then every digest. Nothing that it loads is served. verifyDeep.ts
// also checks that index and records agree.
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { schemaHash } from '../../engine/snapshot/directory.ts';
import { ALIGNMENT, FORMAT_VERSION, paddedBytes } from '../../engine/snapshot/header.ts';
import { findStrayNumber } from '../../engine/snapshot/inventory.ts';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import type { Metadata } from '../../engine/snapshot/metadata.ts';
import { type PartBytes, countPartBytes } from '../../engine/snapshot/sections.ts';
import { statIfExists, openFile, refuseNdjson } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { accept, readCatalogue, type HeldFile, loadHeld } from './load.ts';

/** Bytes that are hashed between two turns of the event loop. */
const HASH_BYTES = 8 << 20;

/** The checks with their outcomes, the number of records of each collection, and the bytes of each part of the file. */
export interface VerifyReport {
  readonly generation: string;
  readonly created: string | undefined;
  readonly checks: readonly { readonly name: string; readonly outcome: string }[];
  readonly collections: readonly { readonly name: string; readonly records: number }[];
  readonly parts: readonly PartBytes[];
}

/**
 * Verifies a snapshot file. Throws OperationError `snapshot` with the file, the section, the value and the expected
 * value; `file` if it cannot be read. Cost: one read of the file, one hash of it, and as much memory as serving it.
 */
export async function verifyFile(path: string, onProgress: OnProgress): Promise<VerifyReport> {
  const held = openForVerify(path);
  try {
    return await verifyHeld(held, onProgress);
  } finally {
    closeSync(held.descriptor);
  }
}

/** Opens a snapshot file for verification. Throws OperationError `file`, also for a directory. */
export function openForVerify(path: string): HeldFile {
  const stats = statIfExists(path);
  refuseNdjson(path, stats);
  if (stats?.isDirectory())
    throw new OperationError('file', `${path} is a directory: want a snapshot file, which import makes of it`);
  return { descriptor: openFile(path), file: path };
}

/** Like `verifyFile`, for an open file, which stays open. */
export async function verifyHeld(held: HeldFile, onProgress: OnProgress): Promise<VerifyReport> {
  const { file: path } = held;
  const loaded = await loadHeld(held, { baseUrl: PLACEHOLDER }, onProgress);
  await verifyDigests(path, loaded, onProgress);
  const metadata = readCatalogue(path, loaded);
  accept(path, findStrayNumber(loaded, metadata) ?? {});
  return {
    generation: loaded.generation,
    created: loaded.created,
    checks: describeChecks(loaded, metadata),
    collections: metadata.collections.map(({ name, records }) => ({ name, records })),
    parts: countPartBytes(loaded.sections),
  };
}

/**
 * Throws unless every section has the digest in the directory. Loaded with the placeholder, sections have the bytes of
 * the file.
 */
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

function describeChecks({ sections }: LoadedSnapshot, { collections }: Metadata): VerifyReport['checks'] {
  const records = collections.reduce((sum, collection) => sum + collection.records, 0);
  return [
    { name: 'magic and version', outcome: `a snapshot in format ${FORMAT_VERSION}` },
    {
      name: 'lengths',
      outcome: `${sections.length} sections and the directory, without gaps or overlaps, to the end of the file`,
    },
    { name: 'alignment', outcome: `every section at a multiple of ${ALIGNMENT} bytes` },
    { name: 'checksums', outcome: `header, directory and ${sections.length} sections` },
    { name: 'schema hash', outcome: schemaHash() },
    { name: 'digests', outcome: `SHA-256 of ${sections.length} sections, as in the directory` },
    { name: 'records', outcome: `${records} in ${collections.length} collections` },
    { name: 'bounds', outcome: 'every end, row, code and position points into its section' },
  ];
}

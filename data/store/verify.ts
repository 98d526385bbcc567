// Verifies a snapshot file: everything that loading checks, then the content hash, then every offset and order inside.
// Reads only; nothing is served from what it loads.
import { setImmediate } from 'node:timers/promises';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { schemaHash } from '../../engine/snapshot/directory.ts';
import { ALIGNMENT, FORMAT_VERSION } from '../../engine/snapshot/header.ts';
import { sectionsOf, type LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { partsOf, type PartBytes } from '../../engine/snapshot/parts.ts';
import {
  misnamedSection,
  verifyCollection,
  verifyMetadata,
  type CollectionTally,
} from '../../engine/snapshot/verify.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { accept, loadSnapshot } from './load.ts';
import { contentHashOf } from './store.ts';

/**
 * What was checked, each with what was found, the records of each collection, and the bytes of each part of the file.
 */
export interface VerifyReport {
  readonly generation: string;
  readonly created: string | undefined;
  readonly checks: readonly { readonly name: string; readonly outcome: string }[];
  readonly collections: readonly { readonly name: string; readonly records: number }[];
  readonly parts: readonly PartBytes[];
}

/**
 * Verifies a snapshot file. Throws OperationError `snapshot` with the file, the section, what was found and what was
 * expected; `file` when it cannot be read. Cost: two reads of the file, and memory as for serving it.
 */
export async function verifyFile(path: string, onProgress: OnProgress): Promise<VerifyReport> {
  const loaded = await loadSnapshot(path, { baseUrl: PLACEHOLDER }, onProgress);
  const hash = await contentHashOf(path, onProgress);
  if (hash !== loaded.generation) {
    throw new OperationError('snapshot', `${path}: content hash ${hash}, expected ${loaded.generation}`);
  }
  const tallies = await verifySections(path, loaded, onProgress);
  return {
    generation: loaded.generation,
    created: loaded.created,
    checks: checksOf(loaded, [...tallies.values()]),
    collections: [...tallies].map(([name, { records }]) => ({ name, records })),
    parts: partsOf(loaded.sections),
  };
}

async function verifySections(
  path: string,
  loaded: LoadedSnapshot,
  onProgress: OnProgress,
): Promise<ReadonlyMap<string, CollectionTally>> {
  const sections = sectionsOf(loaded);
  const metadata = accept(path, verifyMetadata(sections));
  accept(path, misnamedSection(loaded.sections, metadata) ?? {});
  const total = metadata.collections.reduce((sum, { records }) => sum + records, 0);
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
    { name: 'content hash', outcome: 'SHA-256 of all behind the header, as the header says' },
    { name: 'records', outcome: `${sum('records')} in order, each whole; ${sum('links')} own URLs in place` },
    { name: 'ids', outcome: 'ascending in every collection' },
    { name: 'embedded rows', outcome: `${sum('tables')} tables, each row with its parent` },
    { name: 'values', outcome: `${sum('values')}, ascending in every column` },
    { name: 'posting lists', outcome: `${sum('postings')} entries, each row once in every column` },
    { name: 'bitmaps', outcome: `${sum('bitmaps')}, each the rows of its posting list` },
  ];
}

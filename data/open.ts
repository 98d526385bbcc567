// Makes a snapshot file or a data set directory ready to be served: whichever `--data` names.
// A directory is imported to a temporary file first, which is gone before this returns
// or a signal ends the process. Called by serve and explain.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { METADATA_SECTION } from '../engine/snapshot/metadata.ts';
import { sectionsOf, type LoadedSnapshot } from '../engine/snapshot/open.ts';
import { importDirectory } from './import.ts';
import { removedBySignal } from './leftovers.ts';
import { openDataSet } from './ndjson.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';
import { loadSnapshot } from './load.ts';

/** Below this many bytes of input, starting decode threads takes longer than decoding. */
const INLINE_BYTES_MAX = 16 << 20;

/**
 * Loads what `data` names into shared memory with `baseUrl` in its own URLs.
 * Throws OperationError `file`, `input` or `snapshot` with what is wrong. Cost: a load, and an import for a directory.
 */
export async function openData(
  data: string,
  options: { baseUrl: string; threads: number },
  onProgress: OnProgress,
): Promise<LoadedSnapshot> {
  const found = await stat(data).catch((error: unknown) => {
    throw new OperationError(
      'file',
      `there is no data at ${data}: name a snapshot file or a data set directory`,
      error,
    );
  });
  if (!found.isDirectory())
    return catalogueIn(data, await loadSnapshot(data, { baseUrl: options.baseUrl }, onProgress));
  const directory = path.join(tmpdir(), `catalogue-replica-${randomUUID()}`);
  return removedBySignal(directory, async () => {
    makeDirectory(directory);
    try {
      const file = path.join(directory, 'imported.snapshot');
      const threads = (await bytesIn(data)) > INLINE_BYTES_MAX ? options.threads : 0;
      await importDirectory({ directory: data, file, created: undefined, isLenient: false, threads }, onProgress);
      return await loadSnapshot(file, { baseUrl: options.baseUrl }, onProgress);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
}

/** Other files have the same form (blockStore.ts) and no catalogue in them. */
function catalogueIn(data: string, loaded: LoadedSnapshot): LoadedSnapshot {
  if (sectionsOf(loaded).has(METADATA_SECTION)) return loaded;
  throw new OperationError(
    'snapshot',
    `${data}: no snapshot of a catalogue, since it has no section ${METADATA_SECTION}`,
  );
}

/** At once, so that no signal falls between the directory and whoever removes it. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const cure = 'set TMPDIR to a directory that can be written, or import the data to a file first';
    throw new OperationError('file', `cannot write ${directory}: ${cure}`, error);
  }
}

async function bytesIn(directory: string): Promise<number> {
  const { files } = await openDataSet(directory);
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

// Loads a data set directory: imports it to a temporary file and loads that file. The file is unlinked before this
// returns or a signal ends the process.
import { closeSync } from 'node:fs';
import path from 'node:path';
import { importDirectory } from './import/import.ts';
import { withTemporaryFolder } from './leftovers.ts';
import { openFile } from './files.ts';
import { loadHeld, type LoadOptions, type OpenedData } from './store/load.ts';
import { openDataSet } from './import/ndjson.ts';
import type { OnProgress } from './progress.ts';

/** For fewer bytes of input, starting decode threads takes longer than decoding. */
export const INLINE_BYTES_MAX = 16 << 20;

/**
 * Options of a load (see LoadOptions). `threads` and `takesNulls` are for an import. With `onSkipped` it skips lines
 * with errors, and reports their number and the first few.
 */
export interface OpenOptions extends Pick<LoadOptions, 'baseUrl' | 'assertRoom' | 'isUncached' | 'isOffThread'> {
  readonly threads: number;
  readonly takesNulls?: boolean | undefined;
  readonly onSkipped?: ((count: number, first: readonly string[]) => void) | undefined;
}

/** Bytes of memory for an import and the following load, per byte of input (FIGURES, Memory). */
const IMPORT_BYTES = 2.1;

/** Approximate bytes of lines per byte of a gzip file: 337.4 MB in 47.3 (FIGURES, Exports). */
const UNPACKED_BYTES = 7;

/**
 * Imports a directory and loads the result. The unnamed file stays open, and takes space in the temporary directory
 * until it is closed. Throws OperationError `file` or `input`. Cost: an import and a load.
 */
export async function openDirectory(
  data: string,
  { baseUrl, assertRoom, threads: threadsMax, takesNulls, onSkipped }: OpenOptions,
  onProgress: OnProgress,
): Promise<OpenedData> {
  return withTemporaryFolder(', or import the data to a file first', async (folder) => {
    const file = path.join(folder, 'imported.snapshot');
    const bytes = await bytesIn(data);
    assertRoom?.(bytes * IMPORT_BYTES);
    const threads = bytes > INLINE_BYTES_MAX ? threadsMax : 0;
    const isLenient = onSkipped !== undefined;
    const importing = { directory: data, file, created: undefined, isLenient, takesNulls, threads };
    const { skippedCount, skipped } = await importDirectory(importing, onProgress);
    if (skippedCount > 0) onSkipped?.(skippedCount, skipped);
    const held = { descriptor: openFile(file), file: data, isNameless: true };
    try {
      return { loaded: await loadHeld(held, { baseUrl, assertRoom }, onProgress), held };
    } catch (error) {
      closeSync(held.descriptor);
      throw error;
    }
  });
}

/** The bytes of all lines, estimated for compressed files. */
async function bytesIn(directory: string): Promise<number> {
  const { files } = await openDataSet(directory);
  return files.reduce((sum, file) => sum + file.bytes * (file.path.endsWith('.gz') ? UNPACKED_BYTES : 1), 0);
}

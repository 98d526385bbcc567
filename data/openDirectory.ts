// Makes a data set directory ready to be served: imports it to a temporary file, which is gone before this returns or a
// signal ends the process, and loads that.
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LoadedSnapshot } from '../engine/snapshot/loaded.ts';
import { importDirectory } from './import/import.ts';
import { unfinished } from './leftovers.ts';
import { loadSnapshot } from './store/load.ts';
import { openDataSet } from './import/ndjson.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';

/** Below this many bytes of input, starting decode threads takes longer than decoding. */
const INLINE_BYTES_MAX = 16 << 20;

/**
 * Imports a directory and loads what came of it. Throws OperationError `file` or `input`. Cost: an import and a load.
 */
export async function openDirectory(
  data: string,
  options: { baseUrl: string; threads: number },
  onProgress: OnProgress,
): Promise<LoadedSnapshot> {
  return unfinished(path.join(tmpdir(), 'catalogue-replica'), async (directory) => {
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

import { closeSync } from 'node:fs';
import { findStrayNumber } from '../engine/snapshot/inventory.ts';
import type { LoadedSnapshot } from '../engine/snapshot/loaded.ts';
import { statIfExists, openFile, currentDataPath, refuseNdjson } from './files.ts';
import type { OpenOptions } from './openDirectory.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';
import { accept, readCatalogue, type HeldFile, loadHeld, type OpenedData } from './store/load.ts';

/**
 * Loads `data`, a snapshot file or a data set directory, into shared memory with `baseUrl` in its own URLs. Throws
 * OperationError `file`, `input` or `snapshot`. Cost: a load, and an import for a directory.
 */
export async function openData(data: string, options: OpenOptions, onProgress: OnProgress): Promise<LoadedSnapshot> {
  const file = openDataFile(data);
  let held = file;
  try {
    const opened = await openSnapshotFile(data, file, options, onProgress);
    ({ held } = opened);
    return opened.loaded;
  } finally {
    if (held) closeSync(held.descriptor);
  }
}

/** Opens the snapshot file that `data` names; undefined for a directory. Throws OperationError `file`. */
export function openDataFile(data: string): HeldFile | undefined {
  const stats = statIfExists(currentDataPath(data));
  const absence = `there is no data at ${data}: name a snapshot file or a data set directory`;
  if (!stats) throw new OperationError('file', absence);
  if (stats.isDirectory()) return undefined;
  refuseNdjson(data, stats);
  return { descriptor: openFile(data), file: data };
}

/**
 * Loads an open snapshot file, which the caller closes, or imports and loads a directory, whose imported file stays
 * open. The code of import is loaded only for a directory. Throws like openData. Cost: a load, and an import for a
 * directory.
 */
export async function openSnapshotFile(
  data: string,
  held: HeldFile | undefined,
  options: OpenOptions,
  onProgress: OnProgress,
): Promise<OpenedData> {
  if (!held) return (await import('./openDirectory.ts')).openDirectory(data, options, onProgress);
  // The threads in the options are for an import.
  const { threads: _threads, ...loading } = options;
  const loaded = await loadHeld(held, loading, onProgress);
  accept(held.file, findStrayNumber(loaded, readCatalogue(held.file, loaded)) ?? {});
  return { loaded, held };
}

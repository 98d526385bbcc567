// Makes a snapshot file or a data set directory ready to be served: whichever `--data` names. Reads the code of an
// import only for a directory.
import { closeSync } from 'node:fs';
import { straySection } from '../engine/snapshot/inventory.ts';
import type { LoadedSnapshot } from '../engine/snapshot/loaded.ts';
import { foundAt, openFile, placeOf, refuseNdjson } from './files.ts';
import type { OpenOptions } from './openDirectory.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';
import { accept, catalogueIn, type HeldFile, loadHeld, type OpenedData } from './store/load.ts';

/**
 * Loads what `data` names into shared memory with `baseUrl` in its own URLs. Throws OperationError `file`, `input` or
 * `snapshot`. Cost: a load, and an import for a directory.
 */
export async function openData(data: string, options: OpenOptions, onProgress: OnProgress): Promise<LoadedSnapshot> {
  const file = holdData(data);
  let held = file;
  try {
    const opened = await openHeld(data, file, options, onProgress);
    ({ held } = opened);
    return opened.loaded;
  } finally {
    if (held) closeSync(held.descriptor);
  }
}

/** The snapshot file that `data` names, held open; undefined for a directory. Throws OperationError `file`. */
export function holdData(data: string): HeldFile | undefined {
  const found = foundAt(placeOf(data));
  const absence = `there is no data at ${data}: name a snapshot file or a data set directory`;
  if (!found) throw new OperationError('file', absence);
  if (found.isDirectory()) return undefined;
  refuseNdjson(data, found);
  return { descriptor: openFile(data), file: data };
}

/**
 * Loads the snapshot file that `data` names and the caller holds open, or imports and loads a directory, whose imported
 * file then stays open. Throws as openData does. Cost: a load, and an import for a directory.
 */
export async function openHeld(
  data: string,
  held: HeldFile | undefined,
  options: OpenOptions,
  onProgress: OnProgress,
): Promise<OpenedData> {
  if (!held) return (await import('./openDirectory.ts')).openDirectory(data, options, onProgress);
  // Those of the options are for an import.
  const { threads: _threads, ...loading } = options;
  const loaded = await loadHeld(held, loading, onProgress);
  accept(held.file, straySection(loaded, catalogueIn(held.file, loaded)) ?? {});
  return { loaded, held };
}

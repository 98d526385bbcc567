// Makes a snapshot file or a data set directory ready to be served: whichever `--data` names. Reads the code of an
// import only for a directory.
import { closeSync } from 'node:fs';
import { straySection } from '../engine/snapshot/inventory.ts';
import type { LoadedSnapshot } from '../engine/snapshot/loaded.ts';
import { accept, catalogueIn, type HeldFile, keptOpen, loadHeld, type OpenedData } from './store/load.ts';
import { foundAt, openFile, placeOf, refuseNdjson } from './files.ts';
import type { OpenOptions } from './openDirectory.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';

/**
 * Loads what `data` names into shared memory with `baseUrl` in its own URLs; its file stays open.
 * Throws OperationError `file`, `input` or `snapshot` with what is wrong. Cost: a load, and an import for a directory.
 */
export async function openAndHold(data: string, options: OpenOptions, onProgress: OnProgress): Promise<OpenedData> {
  const held = holdData(data);
  if (!held) return (await import('./openDirectory.ts')).openDirectory(data, options, onProgress);
  return keptOpen(held, () => openHeld(held, options, onProgress));
}

/** The same for whoever loads it once. */
export async function openData(data: string, options: OpenOptions, onProgress: OnProgress): Promise<LoadedSnapshot> {
  const { loaded, held } = await openAndHold(data, options, onProgress);
  closeSync(held.descriptor);
  return loaded;
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

/** Loads a snapshot file that is held open. Throws OperationError `file` or `snapshot`. Cost: a load. */
export async function openHeld(held: HeldFile, options: OpenOptions, onProgress: OnProgress): Promise<LoadedSnapshot> {
  // Those of the options are for an import.
  const { threads: _threads, ...loading } = options;
  const loaded = await loadHeld(held, loading, onProgress);
  accept(held.file, straySection(loaded, catalogueIn(held.file, loaded)) ?? {});
  return loaded;
}

// Makes a snapshot file or a data set directory ready to be served: whichever `--data` names. Reads the code of an
// import only for a directory.
import { stat } from 'node:fs/promises';
import { sectionsOf, type LoadedSnapshot } from '../engine/snapshot/loaded.ts';
import { METADATA, sectionName } from '../engine/snapshot/sections.ts';
import { loadSnapshot } from './store/load.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';

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
  const { openDirectory } = await import('./openDirectory.ts');
  return openDirectory(data, options, onProgress);
}

/** Other files have the same form (blockStore.ts) and no catalogue in them. */
function catalogueIn(data: string, loaded: LoadedSnapshot): LoadedSnapshot {
  if (sectionsOf(loaded).has(METADATA, METADATA.path)) return loaded;
  throw new OperationError(
    'snapshot',
    `${data}: no snapshot of a catalogue, since it has no section ${sectionName(METADATA, 'bytes', METADATA.path)}`,
  );
}

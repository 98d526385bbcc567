// Makes a snapshot file or a data set directory ready to be served: whichever `--data` names. Reads the code of an
// import only for a directory.
import { stat } from 'node:fs/promises';
import { readMetadata } from '../engine/snapshot/checkMetadata.ts';
import { misnamedSection, straySection } from '../engine/snapshot/inventory.ts';
import { sectionsOf, type LoadedSnapshot } from '../engine/snapshot/loaded.ts';
import { METADATA_NAME, type Metadata } from '../engine/snapshot/metadata.ts';
import { METADATA } from '../engine/snapshot/sections.ts';
import { accept, loadSnapshot } from './store/load.ts';
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
  if (!found.isDirectory()) {
    const loaded = await loadSnapshot(data, { baseUrl: options.baseUrl }, onProgress);
    accept(data, straySection(loaded, catalogueIn(data, loaded)) ?? {});
    return loaded;
  }
  const { openDirectory } = await import('./openDirectory.ts');
  return openDirectory(data, options, onProgress);
}

/**
 * The metadata of a loaded snapshot of a catalogue, whose sections are those that it asks for: other files have the
 * same form (blockStore.ts), and right checksums make no work of import. Asked once, before any thread opens it. Throws
 * OperationError `snapshot` with what was found in `file` and what was expected. Cost: the number of sections.
 */
export function catalogueIn(file: string, loaded: LoadedSnapshot): Metadata {
  const sections = sectionsOf(loaded);
  if (!sections.has(METADATA, METADATA.path)) {
    const why = `no snapshot of a catalogue, since it has no section ${METADATA_NAME}`;
    throw new OperationError('snapshot', `${file}: ${why}`);
  }
  const metadata = accept(file, readMetadata(sections.views(METADATA, METADATA.path).bytes));
  accept(file, misnamedSection(loaded.sections, metadata) ?? {});
  return metadata;
}

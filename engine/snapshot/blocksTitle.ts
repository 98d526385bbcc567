// The title in a file of blocks, which says what they are blocks of. Another way to make blocks is another kind here,
// so that files of the old kind are made again.
import type { LoadedSnapshot } from './loaded.ts';

/** What blocks are of: equal texts, equal records. `kind` is raised when blocks are made in another way. */
export function blocksTitle({ generation, baseUrl }: Pick<LoadedSnapshot, 'generation' | 'baseUrl'>): string {
  return JSON.stringify({ kind: 'deflate blocks 1', generation, baseUrl });
}

// The names in a file of blocks: its sections,
// and the title that says what they are blocks of. Names only.
import type { LoadedSnapshot } from './loaded.ts';

/** The section that says what the blocks are of. */
export const BLOCKS_SECTION = 'blocks';

/** What blocks are of: equal texts, equal records. `kind` is raised when blocks are made in another way. */
export function blocksTitle({ generation, baseUrl }: Pick<LoadedSnapshot, 'generation' | 'baseUrl'>): string {
  return JSON.stringify({ kind: 'deflate blocks 1', generation, baseUrl });
}

/** The name of a section of the blocks of one chunk of records. */
export function blocksSection(collection: string, chunk: number, part: string): string {
  return `${collection}/blocks/${chunk}.${part}`;
}

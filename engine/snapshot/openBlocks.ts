// Opens the blocks of a snapshot's records, which lie in shared memory as the snapshot does: views, nothing copied. The
// file they come from is a snapshot file with other sections (FORMAT.md).
import { blocksOf, type BlockRun, type RecordBlocks } from '../column/blocks.ts';
import { kernelBetween } from '../kernel/kernel.ts';
import { sectionsOf, type LoadedSnapshot } from './loaded.ts';
import type { Catalogue } from './open.ts';
import { BLOCKS, runPath } from './sections.ts';

/**
 * The blocks of each collection of a catalogue, by name. Cost: a step a chunk, when a collection is first asked for.
 */
export function openBlocks(loaded: LoadedSnapshot, catalogue: Catalogue): (collection: string) => RecordBlocks {
  const sections = sectionsOf(loaded);
  const opened = new Map<string, RecordBlocks>();
  return (collection) => {
    const known = opened.get(collection);
    if (known) return known;
    const { records } = catalogue.collection(collection);
    const chunks = records.chunks.map((_, i) => {
      const { independent, independentEnds, chained, chainedEnds, ...sums } = sections.views(
        BLOCKS,
        runPath(BLOCKS, collection, i),
      );
      const run = (bytes: Uint8Array, ends: Uint32Array): BlockRun => {
        const memory = sections.memory(bytes);
        return { bytes, ends, kernel: kernelBetween(memory, memory) };
      };
      return { independent: run(independent, independentEnds), chained: run(chained, chainedEnds), ...sums };
    });
    const blocks = blocksOf(records, chunks);
    opened.set(collection, blocks);
    return blocks;
  };
}

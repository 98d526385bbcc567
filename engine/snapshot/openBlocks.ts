// Opens the blocks of a snapshot's records, which lie in shared memory as the snapshot does: views, nothing copied. The
// file they come from is a snapshot file with other sections (FORMAT.md).
import { blocksOf, type BlockRun, type RecordBlocks } from '../column/blocks.ts';
import { kernelBetween } from '../kernel/kernel.ts';
import { blocksSection } from './blockSections.ts';
import { sectionsOf, type LoadedSnapshot } from './loaded.ts';
import type { Catalogue } from './open.ts';

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
      const section = (part: string): string => blocksSection(collection, i, part);
      const run = (part: string): BlockRun => {
        const memory = sections.memory(section(part));
        const [bytes, ends] = [sections.bytes(section(part)), sections.u32(section(`${part}Ends`))];
        return { bytes, ends, kernel: kernelBetween(memory, memory) };
      };
      return {
        independent: run('independent'),
        chained: run('chained'),
        crcs: sections.u32(section('crcs')),
        sums: sections.u32(section('sums')),
      };
    });
    const blocks = blocksOf(records, chunks);
    opened.set(collection, blocks);
    return blocks;
  };
}

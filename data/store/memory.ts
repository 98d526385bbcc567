// What a loaded snapshot takes in the memory that all threads share, by what it is for.
// For reports; looks at no record.
import { partsOf } from '../../engine/snapshot/sections.ts';
import type { LoadedSnapshot } from '../../engine/shared.ts';

/** The bytes of each part of a snapshot, in its order. Cost: the number of sections. */
export function bytesByPart({ sections, placements }: LoadedSnapshot): Readonly<Record<string, number>> {
  // Records are longer than in the file by their URLs.
  const loaded = sections.map((section, i) => ({ ...section, bytes: placements[i]!.bytes }));
  return Object.fromEntries(partsOf(loaded).map(({ name, bytes }) => [name, bytes]));
}

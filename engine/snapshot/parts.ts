// What the bytes of a snapshot are for, summed by part of its structure. For reports. Knows the names of sections
// (sections.ts), not what is in them.
import type { Section } from './directory.ts';
import { paddedBytes } from './header.ts';
import { GROUPS, PARTS, sectionName } from './sections.ts';

/** The bytes of one part, in the file. */
export interface PartBytes {
  readonly name: string;
  readonly bytes: number;
}

const PART_OF_SUFFIX = new Map(
  GROUPS.flatMap((group) =>
    Object.entries(group.kinds).map(([key, { part = group.part }]) => [sectionName(group, key, ''), part]),
  ),
);

/** The bytes of each part of a snapshot, what sections share counted once. Cost: the number of sections. */
export function partsOf(sections: readonly Section[]): readonly PartBytes[] {
  const bytes = new Map<string, number>(PARTS.map((name) => [name, 0]));
  const counted = new Set<number>();
  for (const section of sections) {
    if (section.bytes === 0 || counted.has(section.offset)) continue;
    counted.add(section.offset);
    const suffix = section.name.slice(section.name.lastIndexOf('.') + 1);
    const part = PART_OF_SUFFIX.get(suffix) ?? section.name;
    bytes.set(part, (bytes.get(part) ?? 0) + paddedBytes(section.bytes));
  }
  return [...bytes].map(([name, sum]) => ({ name, bytes: sum }));
}

// What the bytes of a snapshot are for, summed by part of its structure. For reports. Knows the names of sections
// (FORMAT.md), not what is in them.
import type { Section } from './directory.ts';
import { paddedBytes } from './header.ts';

/** The bytes of one part, in the file. */
export interface Part {
  readonly name: string;
  readonly bytes: number;
}

/** The parts and the ends of the names of their sections; the first that fits counts. */
const PARTS: readonly (readonly [part: string, names: RegExp])[] = [
  ['records', /\/records\/\d+\.bytes$/],
  ['where records, links and members stand', /\/records\/\d+\.\w+$/],
  ['different texts', /\.text(Ends)?$/],
  ['numbers and instants', /\.numbers$/],
  ['codes of rows', /\.codes$/],
  ['posting lists', /\.posting(s|Starts)$/],
  ['bitmaps', /\.(dense|bitmaps)$/],
  ['n-gram indexes', /\.gram\w+$/],
  ['embedded rows', /\.(rowStarts|parents)$/],
  ['targets of links', /\.targets$/],
  ['metadata', /^metadata$/],
];

/**
 * The parts of a snapshot in the order of FORMAT.md, what sections share counted once. Cost: the number of sections.
 */
export function partsOf(sections: readonly Section[]): readonly Part[] {
  const bytes = new Map(PARTS.map(([name]) => [name, 0]));
  const counted = new Set<number>();
  for (const section of sections) {
    if (section.bytes === 0 || counted.has(section.offset)) continue;
    counted.add(section.offset);
    const part = PARTS.find(([, names]) => names.test(section.name))?.[0] ?? section.name;
    bytes.set(part, (bytes.get(part) ?? 0) + paddedBytes(section.bytes));
  }
  return [...bytes].map(([name, sum]) => ({ name, bytes: sum }));
}

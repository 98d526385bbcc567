// The texts of a column, which each thread numbered by itself, as one list of texts: one behind the other, without
// those that no row has. What is distinct in each may stand there twice; sorting puts it together.
import { GrowableBytes, GrowableU32 } from '../../engine/bits/growable.ts';
import { startOfPart } from '../../engine/bits/lists.ts';
import type { Texts } from '../../engine/column/sort.ts';
import { NULL_NUMBER } from './batch.ts';
import { letGo } from '../threadsInOrder.ts';

/**
 * The texts of each thread, and the number of each row's text, counted over all of them. `cut` bytes at the ends of
 * each are not part of it.
 */
export interface TextSources {
  readonly sources: readonly Texts[];
  readonly numbers: Uint32Array;
  readonly cut?: { readonly before: number; readonly behind: number } | undefined;
}

/** What the texts of all threads take. */
export function textBytesOf(sources: readonly Texts[]): number {
  return sources.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/**
 * The texts as one run, and the number of each row's text there. Lets go of the sources where it copies. Cost: a pass
 * over the rows; a copy, unless there is one source and all of it is some row's.
 */
export function joinedTexts({ sources, numbers, cut }: TextSources): { texts: Texts; numbers: Uint32Array } {
  const size = sources.reduce((sum, { ends }) => sum + ends.length, 0);
  const newNumbers = new Uint32Array(size).fill(NULL_NUMBER);
  let used = 0;
  for (const number of numbers) {
    if (number === NULL_NUMBER || newNumbers[number] === 0) continue;
    newNumbers[number] = 0;
    used++;
  }
  const [only] = sources;
  if (only && sources.length === 1 && used === size && !cut) return { texts: only, numbers };
  const bytes = new GrowableBytes(textBytesOf(sources));
  const ends = new GrowableU32(used);
  const { before, behind } = cut ?? { before: 0, behind: 0 };
  let number = 0;
  for (const source of sources) {
    for (let i = 0; i < source.ends.length; i++, number++) {
      if (newNumbers[number] === NULL_NUMBER) continue;
      newNumbers[number] = ends.length;
      bytes.push(source.bytes, startOfPart(source.ends, i) + before, source.ends[i]! - behind);
      ends.push(bytes.length);
    }
  }
  letGo(sources);
  const texts = { bytes: bytes.view(), ends: ends.view() };
  return { texts, numbers: used === size ? numbers : numbers.map((old) => newNumbers[old] ?? NULL_NUMBER) };
}

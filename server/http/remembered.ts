// What a value of a header means, remembered:
// clients send a handful of values, again and again. Knows no header.
import { Memory } from './memory.ts';

/** Longer lists of values, and longer values, are somebody playing. */
const VALUES_MAX = 256;
const CHARACTERS_MAX = 256;

/** The same function with a memory of 256 values of at most 256 characters. Cost: a look-up for values met before. */
export function remembered<T>(meaningOf: (header: string) => T): (header: string) => T {
  const memory = new Memory<T>(VALUES_MAX);
  return (header) => {
    let meaning = memory.find(header);
    if (meaning === undefined) {
      meaning = meaningOf(header);
      if (header.length <= CHARACTERS_MAX) memory.keep(header, meaning, 1);
    }
    return meaning;
  };
}

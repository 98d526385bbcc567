// What a value of a header means, remembered:
// clients send a handful of values, again and again. Knows no header.

/** Longer lists of values, and longer values, are somebody playing. */
const KEPT_MAX = 256;
const KEPT_CHARACTERS_MAX = 256;

/** The same function with a memory of 256 values of at most 256 characters. Cost: a look-up for values met before. */
export function remembered<T>(meaningOf: (header: string) => T): (header: string) => T {
  const kept = new Map<string, T>();
  return (header) => {
    const known = kept.get(header);
    if (known !== undefined) return known;
    const meaning = meaningOf(header);
    if (header.length <= KEPT_CHARACTERS_MAX) {
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(header, meaning);
    }
    return meaning;
  };
}

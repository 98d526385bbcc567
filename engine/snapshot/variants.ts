// The index variants that an import may leave out: answers stay the same, some take longer. Names and a check only;
// import heeds them, the metadata says which are missing.

/**
 * `grams`: the n-gram indexes, without which searches in texts scan all of them. `bitmaps`: those of values that many
 * rows have, without which combining such values costs their rows. Outlines, ends of
 * members and targets of links are no variants: they take 2 %, and without them `fields`, CSV and joins would need a
 * second way.
 */
export const VARIANTS = ['grams', 'bitmaps'] as const;

/** A variant's name. */
export type Variant = (typeof VARIANTS)[number];

/**
 * The variants of a list of names with commas, sorted and once each; undefined where one is unknown or there is none.
 */
export function parseVariants(text: string): readonly Variant[] | undefined {
  const names = new Set(text.split(',').map((name) => name.trim()));
  const found = VARIANTS.filter((variant) => names.has(variant));
  return found.length === names.size ? found : undefined;
}

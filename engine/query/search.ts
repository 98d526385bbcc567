// What a lookup that no order of codes answers looks for:
// a test of texts, or a test of codes. Types only.
import type { CodeRange, Dictionary } from '../column/dictionary.ts';

/**
 * Whether one text, `bytes[start..end)` as served in UTF-8, is a hit. Called in hot loops: it must not allocate
 * strings.
 */
export type TextMatcher = (bytes: Uint8Array, start: number, end: number) => boolean;

/**
 * How a lookup looks at texts one by one. `eachHit` finds the hits among neighbouring codes whose texts are served as
 * stored, ascending, where there is a faster way than one text after the other. `sliceBytes` is how much text may lie
 * between two polls, where the matcher is so slow that the usual slice is too long. `needle` is text that every hit
 * holds, case aside: it asks the n-gram index for candidates, where there is one.
 */
export interface TextSearch {
  readonly kind: 'text';
  readonly matches: TextMatcher;
  readonly eachHit?: (dictionary: Dictionary, codes: CodeRange, onHit: (code: number) => void) => void;
  readonly sliceBytes?: number;
  readonly needle?: Uint8Array;
}

/** How a lookup looks at the numbers beside the texts. `matcherOf` makes the test of one dictionary's codes. */
export interface CodeSearch {
  readonly kind: 'code';
  readonly matcherOf: (dictionary: Dictionary) => (code: number) => boolean;
}

/** Either kind of search. */
export type Search = TextSearch | CodeSearch;

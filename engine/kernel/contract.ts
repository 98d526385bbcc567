// What the memory kernel can do, whoever does it: compiled, or its twin in the tests.
// Addresses are bytes of whole memories; nothing is checked but what WebAssembly checks.

/**
 * What the kernel can do. `from`, `start` and `end` are addresses in the source memory, `to` and all others in the
 * thread's own (layout.ts says where forms, needles and ranges lie); up to `OVERRUN_BYTES` behind what is written there
 * may change.
 *
 *   copy           copies `bytes` to `to`
 *   gather         copies `count` ranges one behind the other; answers the address behind them
 *   patch          copies a part of records with its own URLs `first` to `last`, exclusive, and puts in the form's
 *                  digit; answers the address behind it
 *   splice         the same with whatever the form replaces
 *   countLinkEnds  how many of the own URLs have an end that a form can replace
 *   indexOf        the first address at which the needle, of 1 byte or more, stands whole before `end`, or `NOT_FOUND`;
 *                  to be read with `>>> 0`
 *   rank           the number of bits of a bitmap of whole 8-byte units; writes its directory (bits/ranks.ts) at
 *                  `ranks`
 *   and            a bitmap ANDed with another one, in place, `bytes` a multiple of 8
 */
export interface Kernel {
  copy(to: number, from: number, bytes: number): void;
  gather(ranges: number, count: number, to: number): number;
  patch(start: number, end: number, first: number, last: number, to: number): number;
  splice(start: number, end: number, first: number, last: number, to: number): number;
  countLinkEnds(start: number, end: number, first: number, last: number): number;
  indexOf(start: number, end: number, needleBytes: number): number;
  rank(words: number, bytes: number, ranks: number): number;
  and(target: number, other: number, bytes: number): void;
}

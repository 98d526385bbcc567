// The functions of the memory kernel, for the compiled one and the reference implementation in the tests. Addresses are
// byte offsets into whole memories. Only the bounds that WebAssembly checks are checked.

/**
 * The functions of the kernel. `from`, `start` and `end` are addresses in the source memory. `to` and all others are
 * addresses in the thread's own memory, where layout.ts places forms, needles and ranges. Up to `OVERRUN_BYTES` after
 * the written bytes may change.
 *
 *   copy           copies `bytes` to `to`
 *   gather         copies `count` ranges one after the other; returns the address after them
 *   patch          copies a part of records with the own URLs `first` to `last`, exclusive, and writes the digit of the
 *                  form into them; returns the address after the part
 *   splice         as `patch`, with everything that the form replaces
 *   countLinkEnds  returns the number of own URLs with an end that a form can replace
 *   indexOf        returns the first address before `end` of the whole needle (at least 1 byte), or `NOT_FOUND`;
 *                  callers must convert the result with `>>> 0`
 *   rank           returns the number of bits in a bitmap of whole 8-byte units; writes its directory (bits/ranks.ts)
 *                  to `ranks`
 *   and            ANDs a bitmap with another one, in place; `bytes` is a multiple of 8
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

// The layout of own memory (own.ts), for the kernel's source, its reference implementation and their callers. Data
// only. `source/kernel.as` has the same numbers, because AssemblyScript cannot import this file.

//  at      bytes  meaning
//  0          28  the form of a splice, seven u32
//  64        512  the base URL to insert
//  576       448  the end of links to insert
//  1024     3072  the needle of a search
//  4096    61440  the ranges of a gather: two u32 each, the start in the source memory and the number of bytes
//  65536          the room: pages are assembled and bitmaps combined here

/**
 * Offsets in the form of a splice.
 *
 *   origin     start of the chunk's bytes
 *   links      start of the chunk's link positions
 *   growth     bytes by which a URL is longer than the placeholder
 *   urlBytes   length of the stored base URL
 *   baseBytes  length of the base URL to insert, or `KEEP_STORED`
 *   digit      digit of the version to insert, or 0
 *   endBytes   length of the end of links to insert, or `KEEP_STORED`
 */
export const FORM = { origin: 0, links: 4, growth: 8, urlBytes: 12, baseBytes: 16, digit: 20, endBytes: 24 } as const;

/** A length that means: keep the stored text. */
export const KEEP_STORED = 0xffffffff;

/** The result of a search without a match, after `>>> 0`. */
export const NOT_FOUND = 0xffffffff;

/** The base URL of a form. The kernel reads vectors of 16 bytes up to its end, and possibly after it. */
export const BASE_AT = 64;
export const BASE_BYTES_MAX = 496;
/** The end of links of a form. */
export const END_AT = 576;
export const END_BYTES_MAX = 432;
/** The needle of a search. */
export const NEEDLE_AT = 1024;
export const NEEDLE_BYTES_MAX = 3056;
/** The ranges of a gather. */
export const RANGES_AT = 4096;
/** The maximum number of ranges per gather. */
export const RANGES_MAX = 7680;
/** The start of the room, the area in which bytes are assembled. */
export const ROOM_AT = 65_536;
/** The number of bytes that the kernel may write after the requested ones. */
export const OVERRUN_BYTES = 64;

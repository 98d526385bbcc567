// Where things lie in a thread's own memory: the numbers that the kernel's source, its twin and their callers agree on.
// Data only. `source/kernel.as` has the same numbers, since AssemblyScript cannot import this file.

//  at      bytes  meaning
//  0          28  the form of a splice, seven u32
//  64        512  the base URL to put in
//  576       448  the end of links to put in
//  1024     3072  the needle of a search
//  4096    61440  the ranges of a gather: two u32 each, where a range starts in the source memory and its bytes
//  65536          the room: where pages are put together and bitmaps are combined

/**
 * The form of a splice. `origin` is where the chunk's bytes start, `links` where its link positions do, `growth` what a
 * URL is longer than the placeholder, `urlBytes` the length of the stored base URL, `baseBytes` and `endBytes` the
 * lengths of what is put in, or `KEPT`; `digit` is the version's to put in, or 0.
 */
export const FORM = { origin: 0, links: 4, growth: 8, urlBytes: 12, baseBytes: 16, digit: 20, endBytes: 24 } as const;

/** Stands for a length where the stored text is kept. */
export const KEEP_STORED = 0xffffffff;

/** What a search answers where nothing is found, read with `>>> 0`. */
export const NOT_FOUND = 0xffffffff;

/** Where the base URL of a form lies; vectors of 16 bytes are read to its end, and may read on. */
export const BASE_AT = 64;
/** The longest base URL. */
export const BASE_BYTES_MAX = 496;
/** Where the end of links of a form lies. */
export const END_AT = 576;
/** The longest end of links. */
export const END_BYTES_MAX = 432;
/** Where the needle of a search lies. */
export const NEEDLE_AT = 1024;
/** The longest needle. */
export const NEEDLE_BYTES_MAX = 3056;
/** Where the ranges of a gather lie. */
export const RANGES_AT = 4096;
/** How many ranges one gather takes at most. */
export const RANGES_MAX = 7680;
/** Where the room starts. */
export const ROOM_AT = 65_536;
/** How far the kernel may write behind what it was asked for. */
export const OVERRUN_BYTES = 64;

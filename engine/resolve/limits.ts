// What one resolution may ask of the thread that does it, each limit judged before the work that it bounds.
// Numbers only.

/** Bytes of a path or identifier that is asked for, once decoded: the longest path of Linux. Source: A131. */
export const RESOLVED_BYTES_MAX = 4096;

/** Segments of a path that is asked for: each costs a look-up or four. Source: A131. */
export const SEGMENTS_MAX = 128;

/** Rows of one value, in the order of ids, among which the one to answer with is chosen. Source: A130. */
export const CANDIDATES_MAX = 4096;

/**
 * Rows that a listing looks at before other requests get their turn, and for one piece of its text: a fraction of a
 * millisecond. What begins within them is finished: at most 32 entries, of two values each.
 */
export const LISTED_ROWS_MAX = 16_384;

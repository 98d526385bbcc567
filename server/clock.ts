// The clocks: the one file of the server that asks for the time. Tests hand in their own.
// Called where something is measured for people (progress, load time) or stamped (logs); no answer depends on it.

/** A clock in milliseconds from an arbitrary start, which never runs backwards. */
export type Clock = () => number;

/** The steady clock of this process, with fractions of a millisecond. */
export const steadyMs: Clock = () => performance.now();

/** The time of day in milliseconds since 1970; it may be set back. For validities and records. */
export const epochMs: Clock = () => Date.now();

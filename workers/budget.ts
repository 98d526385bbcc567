// The time that a task of the pool may take, asked between slices, so that a pattern that is slow on much text ends by
// itself.

/**
 * Whether the time given is over; the time starts now. `now` is a clock in milliseconds. Cost: one look at the clock.
 */
export function budgetOf(milliseconds: number, now: () => number = () => performance.now()): () => boolean {
  const end = now() + milliseconds;
  return () => now() > end;
}

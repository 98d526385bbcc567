// Counters that serving threads count by themselves, in memory that the supervisor reads when it is asked for the
// metrics: no event, no message, nothing allocated. Knows no metric.

/** A metric of tallies: the labels of each of its cells. */
export interface TalliedMetric {
  readonly name: string;
  readonly help: string;
  readonly cells: readonly Readonly<Record<string, string>>[];
}

/**
 * The counts of one thread, a cell each, exact up to 2^53. One thread writes them without a lock; whoever reads sees
 * each count as it was a moment ago, never a torn one, since an aligned double is written in one piece.
 */
export type Tally = Float64Array;

/** A tally of nothing, in memory that threads share. */
export function newTally({ cells }: TalliedMetric): Tally {
  return new Float64Array(new SharedArrayBuffer(cells.length * Float64Array.BYTES_PER_ELEMENT));
}

/** The sums of tallies of one metric, cell by cell. */
export function sumOf(tallies: readonly Tally[], { cells }: TalliedMetric): readonly number[] {
  return cells.map((_, i) => tallies.reduce((sum, tally) => sum + tally[i]!, 0));
}

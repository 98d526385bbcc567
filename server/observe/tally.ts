// Counters that serving threads write in shared memory and the supervisor reads for the metrics: no events, messages or
// allocations.

export const METRIC_PREFIX = 'catalogue_replica_';

export type Labels = Readonly<Record<string, string>>;

export interface TalliedMetric {
  readonly name: string;
  readonly help: string;
  /** Default: counter. */
  readonly kind?: 'counter' | 'gauge';
  /** The labels of each cell. */
  readonly cells: readonly Labels[];
}

export interface TalliedHistogram {
  readonly name: string;
  readonly help: string;
  /** Upper ends, ascending. */
  readonly buckets: readonly number[];
  /** The labels of each curve. */
  readonly curves: readonly Labels[];
}

/** Only one thread writes a tally, so it needs no lock; an aligned double is never torn. Exact up to 2^53. */
export type Tally = Float64Array;

/** Creates tallies, which may be exported as metrics. */
export type TallyMaker = (metric: TalliedMetric | TalliedHistogram) => Tally;

/** A tally of zeros in shared memory. */
export function newTally(metric: TalliedMetric | TalliedHistogram): Tally {
  const cells = 'cells' in metric ? metric.cells.length : metric.curves.length * curveCells(metric);
  return new Float64Array(new SharedArrayBuffer(cells * Float64Array.BYTES_PER_ELEMENT));
}

/** The cells of one curve: a count per bucket, one beyond the last, and the sum of all values. */
function curveCells({ buckets }: TalliedHistogram): number {
  return buckets.length + 2;
}

/** Counts one value in the curve with this number. Cost: one comparison per bucket below the value. */
export function observeValue(tally: Tally, metric: TalliedHistogram, curve: number, value: number): void {
  const { buckets } = metric;
  const start = curve * curveCells(metric);
  let bucket = 0;
  while (bucket < buckets.length && value > buckets[bucket]!) bucket++;
  tally[start + bucket]! += 1;
  tally[start + buckets.length + 1]! += value;
}

export const ACCESS_LINES: TalliedMetric = {
  name: 'access_log_lines_total',
  help: 'Access log lines that were accepted for writing, or dropped because writing was too slow.',
  cells: [{ outcome: 'taken' }, { outcome: 'dropped' }],
};

export function addTallies(tallies: readonly Tally[]): readonly number[] {
  return Array.from(tallies[0] ?? [], (_, i) => tallies.reduce((sum, tally) => sum + tally[i]!, 0));
}

/** A curve for export: the number of values at or below each bucket's end, the number of all values, and their sum. */
export interface Curve {
  readonly labels: Labels;
  readonly below: readonly (readonly [end: number, count: number])[];
  readonly count: number;
  readonly sum: number;
}

export function makeCurves(metric: TalliedHistogram, sums: readonly number[]): readonly Curve[] {
  const size = curveCells(metric);
  return metric.curves.map((labels, curve) => {
    const cells = sums.slice(curve * size, (curve + 1) * size);
    const counts = cells.slice(0, -1);
    const upTo = (bucket: number): number => counts.slice(0, bucket + 1).reduce((sum, count) => sum + count, 0);
    const below = metric.buckets.map((end, bucket) => [end, upTo(bucket)] as const);
    return { labels, below, count: upTo(counts.length - 1), sum: cells.at(-1)! };
  });
}

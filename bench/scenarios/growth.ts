// How the costs of scenarios may grow with the catalogue, and a comparison of measurements at several sizes with that.
// Pure. To add a growth, add its row here and its name to Growth.
import { BUDGETS } from '../budgets.ts';
import type { Growth, Scenario } from './scenario.ts';

/**
 * The description of each growth, and the maximum cost at `to` observations as a multiple of that at `from`. A cost
 * that depends on the page is per byte of the page, because the pages of two catalogues differ.
 */
export const GROWTHS: Readonly<
  Record<Growth, { readonly what: string; readonly isByByte?: true; times(from: number, to: number): number }>
> = {
  constant: { what: 'not at all', times: () => 1 },
  logarithmic: { what: 'with the logarithm of the records', times: (from, to) => Math.log(to) / Math.log(from) },
  page: { what: 'with the bytes of the page', isByByte: true, times: () => 1 },
  scan: { what: 'with what is scanned', times: (from, to) => to / from },
};

/**
 * Additional factor for memory that no longer fits into a cache, and for runs on one machine that are minutes apart.
 */
const GROWTH_TOLERANCE = 1.5;

/** One scenario at one size: minimum CPU microseconds of a request, spread of its rounds, bytes of its response. */
export interface SizePoint {
  readonly observations: number;
  readonly microseconds: number;
  readonly spread: number;
  readonly bytes: number;
}

/**
 * A scenario over all sizes, ascending. `times` is its cost at the largest divided by that at the smallest, `most` its
 * maximum. `slope` is the exponent of the number of observations that fits the costs best: 0 is constant, 1 is linear.
 */
export interface GrowthReport {
  readonly scenario: Pick<Scenario, 'name' | 'what' | 'grows'>;
  readonly points: readonly SizePoint[];
  readonly times: number;
  readonly most: number;
  readonly slope: number;
  readonly verdict: 'held' | 'lost' | 'too noisy';
}

/**
 * Compares the points of a scenario, at least two, ascending. Noise only adds, so a cost within its bound passes under
 * any noise.
 */
export function growthOf(scenario: GrowthReport['scenario'], points: readonly SizePoint[]): GrowthReport {
  const { isByByte, times: allowed } = GROWTHS[scenario.grows];
  const costs = points.map(({ microseconds, bytes }) => microseconds / (isByByte ? bytes : 1));
  const [first, last] = [points[0]!, points.at(-1)!];
  const times = costs.at(-1)! / costs[0]!;
  const most = allowed(first.observations, last.observations) * GROWTH_TOLERANCE;
  const isNoisy = Math.max(first.spread, last.spread) > BUDGETS.spreadMax;
  const slope = slopeOf(
    points.map(({ observations }) => Math.log(observations)),
    costs.map(Math.log),
  );
  return { scenario, points, times, most, slope, verdict: times <= most ? 'held' : isNoisy ? 'too noisy' : 'lost' };
}

/** The slope of the least-squares line. */
function slopeOf(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  return mean(xs.map((value, i) => (value - x) * (ys[i]! - y))) / mean(xs.map((value) => (value - x) ** 2));
}

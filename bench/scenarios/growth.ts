// How the costs of scenarios may grow with the catalogue, and what was measured at several sizes judged by that. Pure.
// To have another growth, add its row here and its name to Growth.
import { BUDGETS } from '../budgets.ts';
import type { Growth, Scenario } from './scenario.ts';

/**
 * What each growth is for people, and how many times the cost at `from` observations that at `to` may be. A cost that
 * depends on the page is one a byte of it, since the pages of two catalogues differ.
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
 * Beyond what a scenario allows, for memory that no cache holds any more, and for two runs on one machine that are
 * minutes apart.
 */
const GROWTH_TOLERANCE = 1.5;

/** One scenario at one size: least CPU microseconds of a request, how far its rounds lay apart, bytes of its answer. */
export interface SizePoint {
  readonly observations: number;
  readonly microseconds: number;
  readonly spread: number;
  readonly bytes: number;
}

/**
 * A scenario over all sizes, ascending: `times` is its cost at the largest over that at the smallest, `most` what is
 * allowed; `slope` the exponent of the number of observations that fits the costs best: 0 stays, 1 grows as they do.
 */
export interface GrowthReport {
  readonly scenario: Pick<Scenario, 'name' | 'what' | 'grows'>;
  readonly points: readonly SizePoint[];
  readonly times: number;
  readonly most: number;
  readonly slope: number;
  readonly verdict: 'held' | 'lost' | 'too noisy';
}

/** Judges a scenario by its points, at least two of them, ascending. Noise only adds: what holds, holds. */
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

/** That of the line with the least squares. */
function slopeOf(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  return mean(xs.map((value, i) => (value - x) * (ys[i]! - y))) / mean(xs.map((value) => (value - x) ** 2));
}

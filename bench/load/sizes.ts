// Measures the scenarios on catalogues of several sizes, and how the cost of each grows. Composition only.
import { runLoadBench, type LoadObserver, type LoadBenchOptions, type ScenarioReport } from './load.ts';
import { growthOf, type GrowthReport } from '../scenarios/growth.ts';

/** The scenarios on a catalogue of one size. */
export interface SizeReport {
  readonly observations: number;
  readonly load: readonly ScenarioReport[];
}

/**
 * Measures generated catalogues of these sizes, smallest first, without the budgets, which are of another size. Cost:
 * that of the load bench for each, see load.ts.
 */
export async function runSizes(
  options: LoadBenchOptions,
  sizes: readonly number[],
  observer: LoadObserver,
): Promise<readonly SizeReport[]> {
  const reports: SizeReport[] = [];
  for (const observations of sizes.toSorted((a, b) => a - b)) {
    observer.onStep(`a catalogue of ${observations} observations`);
    reports.push({ observations, load: await runLoadBench({ ...options, observations, place: undefined }, observer) });
  }
  return reports;
}

/** The scenarios that `growthsOf` has nothing of: at some size there was no memory for their server. */
export function droppedOf(sizes: readonly SizeReport[]): readonly string[] {
  const names = new Set(sizes.flatMap(({ load }) => load.map(({ scenario }) => scenario.name)));
  for (const { scenario } of growthsOf(sizes)) names.delete(scenario.name);
  return [...names];
}

/** How each scenario grew that was measured at all sizes; none where there is one size. */
export function growthsOf(sizes: readonly SizeReport[]): readonly GrowthReport[] {
  const [smallest, ...larger] = sizes;
  if (!smallest || larger.length === 0) return [];
  return smallest.load.flatMap(({ scenario }) => {
    const points = sizes.flatMap(({ observations, load }) =>
      load
        .filter((one) => one.scenario === scenario)
        .map(({ subject: { least, spread }, bytes }) => ({ observations, microseconds: least, spread, bytes })),
    );
    return points.length === sizes.length ? [growthOf(scenario, points)] : [];
  });
}

// Measures the scenarios with catalogues of several sizes, and how the cost of each grows.
import { runLoadBench, type LoadObserver, type LoadBenchOptions, type ScenarioReport } from './load.ts';
import { growthOf, type GrowthReport } from '../scenarios/growth.ts';

/** The scenarios with a catalogue of one size. */
export interface SizeReport {
  readonly observations: number;
  readonly load: readonly ScenarioReport[];
}

/**
 * Measures generated catalogues of these sizes, smallest first. Budgets do not apply, because they are for another
 * size. Cost: that of the load benchmark for each, see load.ts.
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

/** The scenarios that `growthsOf` omits: at some size there was no memory for their server. */
export function droppedOf(sizes: readonly SizeReport[]): readonly string[] {
  const names = new Set(sizes.flatMap(({ load }) => load.map(({ scenario }) => scenario.name)));
  for (const { scenario } of growthsOf(sizes)) names.delete(scenario.name);
  return [...names];
}

/** The growth of each scenario that was measured at all sizes; none if there is one size. */
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

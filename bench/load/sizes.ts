// Measures the scenarios on catalogues of several sizes: what each costs there, and what serving them takes in memory.
// Composition only.
import { runLoadBench, type LoadObserver, type LoadBenchOptions, type ScenarioReport } from './load.ts';
import { prepareDataSet } from './dataSet.ts';
import { memoryOf, type MemoryReport } from '../processes/memory.ts';
import { startServer } from '../processes/processes.ts';
import { onStage } from '../processes/stage.ts';
import { ask } from '../scenarios/check.ts';
import { growthOf, type GrowthReport } from '../scenarios/growth.ts';
import { LIST } from '../scenarios/questions.ts';

/** A catalogue of one size: its observations, the scenarios there, the memory of a server that has answered once. */
export interface SizeReport {
  readonly observations: number;
  readonly load: readonly ScenarioReport[];
  readonly memory: MemoryReport;
}

/**
 * Measures catalogues of several sizes, ascending; `measured` is the load bench of the last, where there is one
 * already. Cost: that of the load bench for each, see load.ts.
 */
export async function runSizes(
  sizes: readonly LoadBenchOptions[],
  observer: LoadObserver,
  measured?: readonly ScenarioReport[],
): Promise<readonly SizeReport[]> {
  const reports: SizeReport[] = [];
  for (const size of sizes) {
    const isMeasured = measured !== undefined && size === sizes.at(-1);
    if (!isMeasured) observer.onStep(`a catalogue of ${size.observations} observations`);
    const load = isMeasured ? measured : await runLoadBench(size, observer);
    reports.push({ load, ...(await servedSize(size, observer)) });
  }
  return reports.toSorted((a, b) => a.observations - b.observations);
}

function servedSize(options: LoadBenchOptions, { onProgress }: LoadObserver): Promise<Omit<SizeReport, 'load'>> {
  return onStage(async (stage) => {
    const data = await prepareDataSet(options, onProgress);
    const { pid, port } = await stage.started(startServer(data.snapshot));
    const { body } = await ask(port, LIST, {});
    const { count } = JSON.parse(body.toString()) as { readonly count: number };
    return { observations: count, memory: await memoryOf(pid, data) };
  });
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

// Runs the micro-benchmarks: each task and a calibration of the same kind, in alternating batches, as ratios. Checks a
// task against its oracle before it is measured, so that a broken fast path cannot win.
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { Bench } from 'tinybench';
import type { OnProgress } from '../../data/progress.ts';
import { loadSnapshot } from '../../data/store/load.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { authorityTasks } from './authorityTasks.ts';
import { countingTask } from './countingTask.ts';
import { choiceFor } from '../scenarios/choice.ts';
import { type DataSetOptions, prepareDataSet } from '../load/dataSet.ts';
import type { MicroTask, TaskTimes } from './microTask.ts';
import { microTasks } from './microTasks.ts';
import { readNaively } from '../scenarios/naive.ts';
import { chosenOf } from '../scenarios/only.ts';
import { BENCH_BASE_URL } from '../processes/processes.ts';
import { summaryOf } from '../load/rounds.ts';
import { refreshTasks } from './refreshTasks.ts';
import { timedTasks } from './timedTasks.ts';

/** Every task runs for `batchMs` a batch, in `rounds` batches. `bits` is the size of the generated bitmaps. */
export interface MicroOptions extends DataSetOptions {
  readonly rounds: number;
  readonly only: readonly string[];
  readonly batchMs: number;
  readonly bits: number;
}

/**
 * The result of one task: `ratio` to its calibration, `spread` of the calibration, `ownSpread` of the task, `hash` of
 * its result.
 */
export interface MicroReport {
  readonly name: string;
  readonly calibration: string;
  readonly nanoseconds: number;
  readonly ratio: number;
  readonly spread: number;
  readonly ownSpread: number;
  readonly pass: number | undefined;
  readonly great: number | undefined;
  readonly hash: string;
}

/** Runs the micro-benchmarks. Throws if the result of a task differs from its oracle. */
export async function runMicroBench(options: MicroOptions, onProgress: OnProgress): Promise<readonly MicroReport[]> {
  const { directory, snapshot } = await prepareDataSet(options, onProgress);
  const choice = choiceFor(await readNaively(directory));
  const catalogue = openSnapshot(await loadSnapshot(snapshot, { baseUrl: BENCH_BASE_URL }, onProgress));
  const collection = catalogue.collection('observations');
  const { tasks: loops, search } = microTasks({ collection, choice, seed: options.seed, bits: options.bits });
  const tasks = [
    ...loops,
    ...timedTasks(search, snapshot),
    ...refreshTasks(directory),
    countingTask(),
    ...authorityTasks(),
  ];
  const reports: MicroReport[] = [];
  for (const task of chosenOf(tasks, options.only)) reports.push(await reportOf(task, options));
  return reports;
}

async function reportOf(task: MicroTask, { rounds, batchMs }: MicroOptions): Promise<MicroReport> {
  const { name, calibration, pass, great } = task;
  const answer = await task.check();
  warmUp(task, WARM_UP_BATCHES * batchMs);
  const batches: TaskTimes[] = [];
  for (let round = 0; round < rounds; round++) {
    // Lets signals be handled between two batches.
    await turn();
    batches.push(await batchOf(task, batchMs, round % 2 === 0));
  }
  const subject = summaryOf(batches.map(([nanoseconds]) => nanoseconds));
  const control = summaryOf(batches.map(([, nanoseconds]) => nanoseconds));
  return {
    name,
    calibration,
    nanoseconds: subject.least,
    ratio: subject.least / control.least,
    spread: control.spread,
    ownSpread: subject.spread,
    pass,
    great,
    hash: createHash('sha256').update(answer).digest('hex').slice(0, 16),
  };
}

/** Batches before the first, for tasks that run much code: it is compiled by how often it has run. */
const WARM_UP_BATCHES = 30;

function warmUp(task: MicroTask, ms: number): void {
  if (!('prepare' in task)) return;
  for (const end = performance.now() + ms; performance.now() < end; task.run()) task.prepare();
}

const SUBJECT = 'task';
const CONTROL = 'calibration';

/** One batch of each: the median nanoseconds of a run of task and calibration. */
async function batchOf(task: MicroTask, batchMs: number, isTaskFirst: boolean): Promise<TaskTimes> {
  if ('times' in task) return task.times(batchMs);
  const bench = new Bench({ time: batchMs, warmupTime: batchMs / 4, warmupIterations: 4, iterations: 16 });
  const sides = [
    [SUBJECT, task.run],
    [CONTROL, task.calibrate],
  ] as const;
  const { prepare = () => {} } = task;
  const options = { [SUBJECT]: { beforeEach: prepare }, [CONTROL]: {} };
  for (const [name, run] of isTaskFirst ? sides : sides.toReversed()) bench.add(name, run, options[name]);
  bench.runSync();
  return [nanosecondsOf(bench, SUBJECT), nanosecondsOf(bench, CONTROL)];
}

function nanosecondsOf(bench: Bench, name: string): number {
  const result = bench.getTask(name)?.result;
  if (result?.state !== 'completed') throw new Error(`a micro-benchmark ended as ${result?.state}`);
  return result.latency.p50 * 1e6;
}

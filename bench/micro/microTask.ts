// What a micro-benchmark is: a task beside a calibration of the same kind, and a check against a slow twin.
// Types only; the tasks are in microTasks.ts and its kin, micro.ts runs them.

/**
 * What all have. `check` runs the task once, throws unless its answer is that of the slow twin, and answers a text of
 * it to hash. `calibration` says what it is compared with; targets are those of the design's table, where it has one.
 */
interface Terms {
  readonly name: string;
  readonly calibration: string;
  readonly pass: number | undefined;
  readonly great: number | undefined;
  check(): string | Promise<string>;
}

/**
 * A task and a calibration that take microseconds, and are run in turn. What `prepare` does before a run is not timed.
 */
export interface LoopTask extends Terms {
  prepare?(): void;
  run(): unknown;
  calibrate(): unknown;
  check(): string;
}

/**
 * A task that knows how long a run of it and of its calibration take, in nanoseconds, after about `batchMs` for each.
 * It may wait for other programs meanwhile.
 */
export interface TimedTask extends Terms {
  times(batchMs: number): TaskTimes | Promise<TaskTimes>;
}

/** Nanoseconds of a run of each. */
export type TaskTimes = readonly [task: number, calibration: number];

/** One micro-benchmark. */
export type MicroTask = LoopTask | TimedTask;

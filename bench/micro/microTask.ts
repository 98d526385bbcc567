// A micro-benchmark: a task, a calibration of the same kind, and a check against a slow reference. Types only.
// microTasks.ts, timedTasks.ts and other files have the tasks; micro.ts runs them.

/**
 * The common members. `check` runs the task once, throws unless its result equals that of the slow reference, and
 * returns a text of it for a hash. `calibration` names the calibration. Targets are those of the design's table, if
 * any.
 */
interface Terms {
  readonly name: string;
  readonly calibration: string;
  readonly pass: number | undefined;
  readonly great: number | undefined;
  check(): string | Promise<string>;
}

/** A task and a calibration that take microseconds and run in turn. `prepare` runs before each run and is not timed. */
export interface LoopTask extends Terms {
  prepare?(): void;
  run(): unknown;
  calibrate(): unknown;
  check(): string;
}

/**
 * A task that times itself and its calibration, in nanoseconds, for about `batchMs` each. It may wait for other
 * programs.
 */
export interface TimedTask extends Terms {
  times(batchMs: number): TaskTimes | Promise<TaskTimes>;
}

/** Nanoseconds of one run of the task, and of one run of its calibration. */
export type TaskTimes = readonly [task: number, calibration: number];

export type MicroTask = LoopTask | TimedTask;

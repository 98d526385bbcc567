// What a micro-benchmark is: a task beside a calibration of the same kind, and a check against a slow twin.
// A type only; the tasks are in microTasks.ts and its kin, micro.ts runs them.

/**
 * One task. `check` runs it once, throws unless its answer is that of the slow twin, and answers a text of it to hash.
 * `calibration` says what `calibrate` does; targets are those of the design's table, where it has one.
 */
export interface MicroTask {
  readonly name: string;
  readonly calibration: string;
  readonly pass: number | undefined;
  readonly great: number | undefined;
  run(): unknown;
  calibrate(): unknown;
  check(): string;
}

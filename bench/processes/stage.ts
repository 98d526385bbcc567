// The running processes of a benchmark: started one after the other, stopped together however the benchmark ends.

/** Anything that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

/** The running parts of a benchmark. `started` registers one, which is stopped with all others. */
export interface BenchStage {
  started<T extends Running>(one: T | Promise<T>): Promise<T>;
}

/** Runs `work` with a stage and stops what it started, the last first, even if it fails. */
export async function onStage<T>(work: (stage: BenchStage) => Promise<T>): Promise<T> {
  const running: Running[] = [];
  const stage: BenchStage = {
    async started(one) {
      const ready = await one;
      running.push(ready);
      return ready;
    },
  };
  try {
    return await work(stage);
  } finally {
    for (const one of running.toReversed()) await one.stop();
  }
}

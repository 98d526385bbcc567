// The processes that a bench has running: started one after the other, stopped together however the bench ends. Knows
// nothing of what they are.

/** Anything that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

/** What runs for a bench. `started` notes it, to be stopped with all others. */
export interface BenchStage {
  started<T extends Running>(one: T | Promise<T>): Promise<T>;
}

/** Does `work` on a stage and stops what it started, the last one first, also when it fails. */
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

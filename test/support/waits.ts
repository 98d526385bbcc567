/** Longer than any start, reload or drain takes on a busy machine of two cores. */
const WAIT_MS_MAX = 60_000;

/**
 * Rejects with `message()` unless the work resolves in time. A lost event then fails a test in a minute instead of
 * hanging it.
 */
export async function withinLimit<T>(work: Promise<T>, message: () => string, msMax = WAIT_MS_MAX): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`after ${msMax / 1000} s: ${message()}`)), msMax);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when a condition holds. Rejects after a minute with the condition's source and the result of `shown`. */
export async function until(holds: () => boolean | Promise<boolean>, shown = (): string => ''): Promise<void> {
  const end = performance.now() + WAIT_MS_MAX;
  while (!(await withinLimit(Promise.resolve(holds()), () => `no result of ${holds.toString()}\n${shown()}`))) {
    if (performance.now() > end) throw new Error(`not within ${WAIT_MS_MAX / 1000} s: ${holds.toString()}\n${shown()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The same, checked after each turn of the event loop: for conditions that a few turns bring about. */
export async function settled(condition: () => boolean): Promise<void> {
  const end = performance.now() + WAIT_MS_MAX;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${WAIT_MS_MAX / 1000} s: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

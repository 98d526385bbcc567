// How much of the cores threads get that work for long,
// where threads that answer want them too. Knows no work.
import os from 'node:os';

/** A tenth of what a serving thread gets (Linux, sched(7)). */
const NICENESS = 10;

/**
 * Makes the calling thread nice. Linux gives each thread a priority of its own; elsewhere it would be the whole
 * process's, and stays.
 */
export function beNice(): void {
  if (os.platform() === 'linux') os.setPriority(NICENESS);
}

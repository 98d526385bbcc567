// Priority of threads for long work next to threads that serve.
import os from 'node:os';

/** Added to the niceness of a thread: it then gets a tenth of a serving thread's share (Linux, sched(7)). */
const NICENESS = 10;
const NICENESS_MAX = os.constants.priority.PRIORITY_LOW;

/** The niceness that `beNice` gives a thread of a process with this niceness. */
export function nicer(niceness: number): number {
  return Math.min(niceness + NICENESS, NICENESS_MAX);
}

/** Lowers the priority of the calling thread. Only on Linux: elsewhere the call changes the whole process. */
export function beNice(): void {
  if (os.platform() === 'linux') os.setPriority(nicer(os.getPriority()));
}

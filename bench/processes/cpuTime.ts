// CPU time of a process with all its threads, from the accounting of the kernel: in nanoseconds, while `ps` has
// hundredths of a second; and in those if exited threads count. Linux only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { OperationError } from '../../data/operationError.ts';

/** Nanoseconds that each thread of a process has run, by thread id. */
export type CpuTimes = ReadonlyMap<string, number>;

/**
 * The times of all threads of a process. Throws OperationError `usage` if the system does not report them. Source:
 * Linux, Documentation/scheduler/sched-stats.rst, the first number of /proc/<pid>/task/<tid>/schedstat.
 */
export function cpuTimesOf(pid: number): CpuTimes {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(`/proc/self/schedstat`)) {
    throw new OperationError('usage', 'the bench needs /proc/<pid>/schedstat: run it on Linux with schedstats');
  }
  return new Map(readdirSync(tasks).map((thread) => [thread, nanosecondsOf(`${tasks}/${thread}/schedstat`)] as const));
}

/**
 * Microseconds that a process ran between two readings. Excludes a thread that exited in between, includes one that
 * started.
 */
export function cpuMicroseconds(before: CpuTimes, after: CpuTimes): number {
  let nanoseconds = 0;
  for (const [thread, time] of after) nanoseconds += time - (before.get(thread) ?? 0);
  return nanoseconds / 1000;
}

/** Positions of the ticks in `/proc/<pid>/stat` after the name: those in user mode, followed by those in the kernel. */
const TICKS_AT = { own: 11, children: 13 } as const;
const TICKS_PER_SECOND = 100;

/**
 * Seconds of CPU, in hundredths, of a process with all its threads, also exited ones; or of its exited children.
 * Source: Linux, proc_pid_stat(5), 14 to 17.
 */
export function cpuSecondsOf(pid: number, whose: keyof typeof TICKS_AT): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const at = TICKS_AT[whose];
  return (Number(fields[at]) + Number(fields[at + 1])) / TICKS_PER_SECOND;
}

/** A thread may exit between the listing and the read. */
function nanosecondsOf(file: string): number {
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ', 1)[0]) : 0;
}

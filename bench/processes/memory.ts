// The memory of a process, and whether one more server fits. Linux only, like the rest of the benchmarks.
import { readFileSync, statSync } from 'node:fs';
import { freemem } from 'node:os';

/**
 * Peak resident memory of a process so far, in bytes; 0 once it has exited. Source: Linux, proc_pid_status(5), in units
 * of 1,024 bytes.
 */
export function peakMemoryBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Whether another server fits into memory: its snapshot, half as much for compressed records, as much again for
 * everything else.
 */
export function hasRoomFor(snapshot: string): boolean {
  return freemem() > 2.5 * statSync(snapshot).size;
}

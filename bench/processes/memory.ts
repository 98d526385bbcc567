// What a server's process keeps in memory, beside what its data takes on disk, and whether one more has room. Linux
// only, as the rest of the bench.
import { readFileSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { freemem } from 'node:os';
import path from 'node:path';
import type { BenchDataSet } from '../load/dataSet.ts';

/** Bytes: resident memory of the process, its snapshot file, and the NDJSON that this was imported from. */
export interface MemoryReport {
  readonly residentBytes: number;
  readonly snapshotBytes: number;
  readonly ndjsonBytes: number;
}

/**
 * Looks at a process and its data.
 */
export async function memoryOf(pid: number, { directory, snapshot }: BenchDataSet): Promise<MemoryReport> {
  const names = (await readdir(directory)).filter((name) => /\.ndjson(\.gz)?$/.test(name));
  let ndjsonBytes = 0;
  for (const name of names) ndjsonBytes += (await stat(path.join(directory, name))).size;
  return { residentBytes: statusBytes(pid, 'VmRSS'), snapshotBytes: (await stat(snapshot)).size, ndjsonBytes };
}

/**
 * Memory of a process, resident now (`VmRSS`) or at most so far (`VmHWM`), in bytes; 0 once it is gone. Source: Linux,
 * proc_pid_status(5), in units of 1,024 bytes.
 */
export function statusBytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Whether another server fits into memory: its snapshot, half as much for compressed records, as much again for all
 * else.
 */
export function hasRoomFor(snapshot: string): boolean {
  return freemem() > 2.5 * statSync(snapshot).size;
}

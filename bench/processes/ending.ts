// Cleans up when a benchmark ends early: stops its processes and removes its temporary folders. Linux only, like the
// rest of the benchmarks.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';

/** A folder that is removed by `remove`, or at the exit of the process, for whatever reason. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

const folders = new Set<string>();
process.once('exit', () => folders.forEach(removeFolder));

/** Makes a new folder in `parent`, whose name starts with `prefix`. */
export function temporaryFolder(prefix: string, parent = tmpdir()): TemporaryFolder {
  const made = removedAtEnd(mkdtempSync(path.join(parent, prefix)));
  return { path: made, remove: () => removeFolder(made) };
}

/** Registers a path at which the caller makes a folder. It is removed at exit unless it was renamed. */
export function removedAtEnd(place: string): string {
  folders.add(place);
  return place;
}

function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * From now on each of these signals stops this process, with 128 plus its number, and all processes that it has
 * started.
 */
export function endOnSignals(): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      for (const pid of familyOf(process.pid).slice(1)) orGone(() => process.kill(pid, 'SIGTERM'), false);
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/** A process and all its descendants that still run. Source: Linux, proc(5), /proc/<pid>/task/<tid>/children. */
export function familyOf(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task`;
  const threads = orGone(() => readdirSync(tasks), []);
  const children = threads.flatMap((thread) => textOf(`${tasks}/${thread}/children`).split(' ').filter(Boolean));
  return [pid, ...children.map(Number).flatMap((child) => familyOf(child))];
}

function textOf(file: string): string {
  return orGone(() => readFileSync(file, 'utf8'), '');
}

/** The result of reading a process, or `gone` if it has exited. */
function orGone<T>(look: () => T, gone: T): T {
  try {
    return look();
  } catch {
    return gone;
  }
}

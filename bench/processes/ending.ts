// How a bench ends early: its processes are stopped and its temporary folders removed, so that neither is left behind.
// Linux only, as the rest of the bench.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';

/** A folder that `remove` removes, or the end of the process, for whatever reason it ends. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

const folders = new Set<string>();
process.once('exit', () => folders.forEach(removeFolder));

/** A new folder, inside `parent`, whose name begins with `prefix`. */
export function temporaryFolder(prefix: string, parent = tmpdir()): TemporaryFolder {
  const made = removedAtEnd(mkdtempSync(path.join(parent, prefix)));
  return { path: made, remove: () => removeFolder(made) };
}

/** Registers a path at which the caller makes a folder: it is removed when the process ends, unless it was renamed. */
export function removedAtEnd(place: string): string {
  folders.add(place);
  return place;
}

function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** From now on each of these signals ends this process with 128 and its number, and all that it has started. */
export function endOnSignals(): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      for (const pid of familyOf(process.pid).slice(1)) orGone(() => process.kill(pid, 'SIGTERM'), false);
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/**
 * A process and all that were started by it or by those, as far as they are there.
 * Source: Linux, proc(5), /proc/<pid>/task/<tid>/children.
 */
export function familyOf(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task`;
  const threads = orGone(() => readdirSync(tasks), []);
  const children = threads.flatMap((thread) => textOf(`${tasks}/${thread}/children`).split(' ').filter(Boolean));
  return [pid, ...children.map(Number).flatMap((child) => familyOf(child))];
}

function textOf(file: string): string {
  return orGone(() => readFileSync(file, 'utf8'), '');
}

/** The result of looking at a process, or `gone` if it has ended. */
function orGone<T>(look: () => T, gone: T): T {
  try {
    return look();
  } catch {
    return gone;
  }
}

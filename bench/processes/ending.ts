// How a bench ends before its time: what it has started is stopped, whoever started it, and its temporary folders go
// with it, so that neither processes nor files are left behind. Linux only, as the rest of the bench.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { STOP_MS_MAX } from './processes.ts';

/** A folder that `remove` takes away, and else the end of the process, however that comes. */
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

/** The place of a folder that whoever asks makes there, and may rename: what is left of it goes with the process. */
export function removedAtEnd(place: string): string {
  folders.add(place);
  return place;
}

function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LOOK_MS = 20;
let isStopping = false;

/** From now on each of these signals stops what this process has started, and ends it with 128 and its number. */
export function endOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, () => void endBy(signal));
}

/**
 * Whether such a signal came: what fails then, fails for want of what was stopped. Takes a turn, in which a signal is
 * heard that a terminal has sent to others too, which were faster.
 */
export async function isEnding(): Promise<boolean> {
  await turn();
  return isStopping;
}

async function endBy(signal: (typeof SIGNALS)[number]): Promise<void> {
  // A terminal's Ctrl-C comes twice: npm passes it on.
  if (isStopping) return;
  isStopping = true;
  // Whoever waits for what is stopped now fails, and nobody wants to know.
  process.on('uncaughtException', () => undefined);
  await stopFamily();
  process.exit(128 + constants.signals[signal]);
}

/** Ends with SIGTERM what is there and what others start meanwhile, and with SIGKILL when that takes too long. */
async function stopFamily(): Promise<void> {
  const told = new Set<number>();
  for (const start = performance.now(); ; await delay(LOOK_MS)) {
    for (const pid of familyOf(process.pid).slice(1)) {
      if (!told.has(pid)) send(pid, 'SIGTERM');
      told.add(pid);
    }
    const left = [...told].filter(isThere);
    if (left.length === 0) return;
    if (performance.now() - start > STOP_MS_MAX) for (const pid of left) send(pid, 'SIGKILL');
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

/** A zombie is none: whoever should have waited for it is gone. */
function isThere(pid: number): boolean {
  const [, state = 'Z'] = /^.*\) (\w)/s.exec(textOf(`/proc/${pid}/stat`)) ?? [];
  return state !== 'Z';
}

function send(pid: number, signal: NodeJS.Signals): void {
  orGone(() => process.kill(pid, signal), false);
}

function textOf(file: string): string {
  return orGone(() => readFileSync(file, 'utf8'), '');
}

/** What a look at a process says, or `gone` where it has ended meanwhile. */
function orGone<T>(look: () => T, gone: T): T {
  try {
    return look();
  } catch {
    return gone;
  }
}

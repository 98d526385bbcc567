// The micro-benchmarks that involve other programs and time themselves: a search against memmem of libc, and the load
// of a snapshot.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { libcScanner } from './libcScan.ts';
import type { LoopTask, TimedTask } from './microTask.ts';

/** The search that is compared: a task that searches `text` for `word`. */
export interface TimedSearch {
  readonly task: LoopTask;
  readonly text: Uint8Array;
  readonly word: string;
}

/** All of them; without the search if there is no C compiler. Cost: a compilation. */
export function timedTasks(search: TimedSearch, snapshot: string): readonly TimedTask[] {
  const scan = memmemTask(search);
  return [...(scan ? [scan] : []), loadTask(snapshot)];
}

/** The design wants 0.4 and 0.8 of the speed of memmem. */
const MEMMEM = { pass: 1 / 0.4, great: 1 / 0.8 };

function memmemTask({ task, text, word }: TimedSearch): TimedTask | undefined {
  const scan = libcScanner(text);
  if (!scan) return undefined;
  return {
    name: 'memmem',
    calibration: 'memmem of libc over the same titles',
    ...MEMMEM,
    times: (batchMs) => [middleOf(task.run, batchMs), scan(word, batchMs).nanoseconds],
    check: () => {
      const { count } = scan(word, 0);
      assert(count >= Number(task.run()), 'memmem finds fewer places than there are titles with the word');
      return `${task.check()} ${count}`;
    },
  };
}

function middleOf(run: () => unknown, batchMs: number): number {
  const times: number[] = [];
  for (const end = performance.now() + batchMs; times.length < 3 || performance.now() < end;) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[times.length >> 1]! * 1e6;
}

const LOADER = fileURLToPath(new URL('./loadTime.ts', import.meta.url));

/** 1 GB/s is a byte a nanosecond, so the ratio is the inverse of the speed in GB/s: targets 0.5 and 1. */
function loadTask(snapshot: string): TimedTask {
  const { size } = statSync(snapshot);
  const load = (): readonly [nanoseconds: number, generation: string] => {
    const { status, stdout } = spawnSync(process.execPath, [LOADER, snapshot], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the load of a snapshot ended with ${status}`);
    const [nanoseconds = '', generation = ''] = stdout.trim().split(' ');
    return [Number(nanoseconds), generation];
  };
  return {
    name: 'load',
    calibration: 'the bytes of the snapshot at 1 GB/s',
    pass: 2,
    great: 1,
    times: () => [load()[0], size],
    check: () => load()[1],
  };
}

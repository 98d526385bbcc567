// Clocks that tests set: the time of day of a process jumps while it runs, as that of a machine whose clock is set.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandOptions } from './commandProcess.ts';

const MOVED_CLOCK = new URL('./defects/movedClock.ts', import.meta.url).href;

/** A clock, right at first. `options` are for the process that has it, and those that it starts. */
export interface MovedClock {
  readonly options: CommandOptions;
  /** Sets it so much ahead of the time of day. */
  move(ms: number): void;
}

/** A clock that is kept in `parent`. */
export function newClock(parent: string): MovedClock {
  const file = join(mkdtempSync(join(parent, 'clock-')), 'ms');
  const move = (ms: number): void => writeFileSync(file, String(ms));
  move(0);
  const NODE_OPTIONS = `${process.env['NODE_OPTIONS'] ?? ''} --import ${MOVED_CLOCK}`;
  return { options: { environment: { NODE_OPTIONS, MOVED_CLOCK: file } }, move };
}

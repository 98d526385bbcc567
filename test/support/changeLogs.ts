// Change logs for tests: generations with a few changes each, told apart by a number.
import { join } from 'node:path';
import { appendGeneration, CHANGES_FILE, type RecordChange } from '../../data/upstream/changeLog.ts';
import { dataSetOf } from './dataSets.ts';

/** A generation by its number. */
export function generationOf(n: number): string {
  return String(n).padStart(8, '0').repeat(8);
}

function digest(n: number): Uint8Array {
  return new Uint8Array(16).fill(n);
}

/** What changed in such a generation: a record came, one changed and one went. */
export function changesOf(n: number): readonly RecordChange[] {
  return [
    { collection: 'notes', id: n, before: null, after: digest(n) },
    { collection: 'notes', id: 2 ** 53 - 1, before: digest(n), after: digest(n + 1) },
    { collection: 'times', id: 0, before: digest(n), after: null },
  ];
}

/** Where a log would be, in a new folder inside `parent`. */
export function newLog(parent: string): string {
  return join(dataSetOf(parent, {}), CHANGES_FILE);
}

/** A log of a base and so many generations behind it. */
export function logOf(parent: string, generations: number): string {
  const file = newLog(parent);
  appendGeneration(file, { generation: generationOf(0), at: 1_000_000_000, isBase: true, changes: [] });
  for (let n = 1; n <= generations; n++)
    appendGeneration(file, {
      generation: generationOf(n),
      at: 1_000_000_000 + n,
      isBase: false,
      changes: changesOf(n),
    });
  return file;
}

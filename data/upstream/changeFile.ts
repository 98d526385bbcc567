// The change log as a file that only grows: appended to by whole generations, read from any of them on. What is not
// whole at its end, as a run that was killed leaves it, counts for nothing and is written over.
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync } from 'node:fs';
import path from 'node:path';
import { attempt, openFile, readAllAt, syncDirectory, writeAllAt } from '../files.ts';
import { OperationError } from '../operationError.ts';
import {
  FRAME_CHANGES_MAX,
  frameBytes,
  framesIn,
  LOG_START,
  type LogEnd,
  type LogFrame,
  type ReadAt,
} from './changeLog.ts';
import type { RecordChange } from './diff.ts';

/** The name of the log in the folder of a replica that follows another. */
export const CHANGES_FILE = 'changes.log';

/** A generation in a log, and where it begins and ends there. */
export interface LoggedGeneration {
  readonly generation: string;
  readonly at: number;
  readonly isBase: boolean;
  readonly start: LogEnd;
  readonly end: LogEnd;
}

/** What is appended: a generation with its changes, since `at`. See LogFrame for `isBase`. */
export interface NextGeneration {
  readonly generation: string;
  readonly at: number;
  readonly isBase: boolean;
  readonly changes: Iterable<RecordChange>;
}

/**
 * The whole generations of a log in their order; none where there is no file. Throws OperationError `file`, or `input`
 * with the offset of what is damaged. Cost: a pass over the file.
 */
export function generationsIn(file: string): readonly LoggedGeneration[] {
  if (!existsSync(file)) return [];
  return withFile(file, (read) => {
    const found: LoggedGeneration[] = [];
    let start = LOG_START.end;
    for (const { frame, end } of framesIn(file, read)) {
      if (!frame.isLast) continue;
      const { generation, at, isBase } = frame;
      found.push({ generation, at, isBase, start, end });
      start = end;
    }
    return found;
  });
}

/**
 * The frames of the generations behind `since`, or of all. `since` is a generation or the start of one, of 8 digits at
 * least. Throws OperationError `usage` where the log has it not, or began anew behind it; and what generationsIn
 * throws. Cost: two passes over the file; memory is that of a frame.
 */
export function* changesSince(file: string, since?: string): Generator<LogFrame> {
  const all = generationsIn(file);
  const from = since === undefined ? 0 : behind(file, all, since);
  const last = all.at(-1);
  if (!last || from === all.length) return;
  const descriptor = openFile(file);
  try {
    for (const { frame, end } of framesIn(file, readerOf(descriptor, file), all[from]!.start)) {
      yield frame;
      if (end.bytes === last.end.bytes) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

function behind(file: string, all: readonly LoggedGeneration[], since: string): number {
  const found = /^[0-9a-f]{8,64}$/.test(since)
    ? all.findLastIndex(({ generation }) => generation.startsWith(since))
    : -1;
  if (found < 0) {
    const known = all.length === 0 ? 'it has none' : `its last is ${all.at(-1)!.generation}`;
    throw new OperationError('usage', `${file} has no generation ${since}; ${known}`);
  }
  const anew = all.slice(found + 1).find(({ isBase }) => isBase);
  if (!anew) return found + 1;
  throw new OperationError(
    'usage',
    `${file} began anew with ${anew.generation}: what changed since ${since} is not known`,
  );
}

/**
 * Appends a generation; once this returns it is on the disk. Ended before, by `kill -9` too, the log is as it was.
 * Throws OperationError `file`, and what generationsIn throws. Cost: a pass over the log, and 100 bytes a change.
 */
export function appendGeneration(file: string, next: NextGeneration): void {
  let end = generationsIn(file).at(-1)?.end;
  attempt(`cannot write ${file}`, () => {
    const descriptor = openSync(file, existsSync(file) ? 'r+' : 'wx');
    try {
      ftruncateSync(descriptor, end?.bytes ?? 0);
      if (!end) {
        writeAllAt(descriptor, LOG_START.bytes, 0);
        ({ end } = LOG_START);
      }
      for (const frame of framesOf(next)) {
        const framed = frameBytes(frame, end);
        writeAllAt(descriptor, framed.bytes, end.bytes);
        ({ end } = framed);
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncDirectory(path.dirname(path.resolve(file)));
  });
}

function* framesOf({ generation, at, isBase, changes }: NextGeneration): Generator<LogFrame> {
  let some: RecordChange[] = [];
  for (const change of changes) {
    if (some.length === FRAME_CHANGES_MAX) {
      yield { generation, at, isBase, isLast: false, changes: some };
      some = [];
    }
    some.push(change);
  }
  yield { generation, at, isBase, isLast: true, changes: some };
}

function withFile<T>(file: string, work: (read: ReadAt) => T): T {
  const descriptor = openFile(file);
  try {
    return work(readerOf(descriptor, file));
  } finally {
    closeSync(descriptor);
  }
}

function readerOf(descriptor: number, file: string): ReadAt {
  return (offset, length) => {
    const bytes = new Uint8Array(length);
    const filled = attempt(`cannot read ${file}`, () => readAllAt(descriptor, bytes, offset));
    return bytes.subarray(0, filled);
  };
}

// The event log: JSON lines, written to a sink or appended to a file. A file is checked at the start and opened so that
// a pipe without a reader does not block.
import { appendFileSync, closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import type { Observer, ServiceEvent } from './events.ts';

/** Like flag `a`, but fails for a pipe without a reader, and does not wait for a full pipe. */
const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const NO_READER = 'ENXIO';

/** Creates the file if it does not exist. Throws OperationError `file` if it cannot be written now. */
export function assertAppendable(subject: string, path: string, mode: number): void {
  try {
    const descriptor = openSync(path, APPENDING, mode);
    // A pipe stays open as long as the process: its reader would stop when the last writer closes it.
    if (!fstatSync(descriptor).isFIFO()) closeSync(descriptor);
  } catch (cause) {
    const reason = reasonOf(cause);
    const explanation = reason === NO_READER ? `${reason}: a pipe needs its reader first` : reason;
    throw new OperationError('file', `the ${subject} ${path} cannot be written (${explanation})`, cause);
  }
}

/** Writes each event as one line of JSON: `time` (ISO 8601, UTC) and `event` first, then its other members. */
export function logTo(write: (lines: readonly string[]) => void): Observer {
  return (events) => write(events.map(logLine));
}

/** One line of JSON; line breaks and control characters are escaped. */
export function logLine({ kind, at, ...members }: ServiceEvent): string {
  // JSON.stringify omits undefined members.
  return JSON.stringify({ time: new Date(at * 1000).toISOString(), event: kind, ...members });
}

export type AuditFile = string | typeof STANDARD_OUTPUT;

/** This descriptor represents standard output in `AuditFile`. */
export const STANDARD_OUTPUT = 1;

export function auditFileText(file: AuditFile): string {
  return file === STANDARD_OUTPUT ? 'on standard output' : file;
}

/** Not readable by other users, because it shows their decisions. */
const FILE_MODE = 0o600;

const LINE_END = 0x0a;

/**
 * Appends lines to a file. It is opened for each call, so it may be moved at any time. A previous incomplete line, from
 * a crash or a full disk, gets its line end first, so that it spoils no other. Throws the system's errors, such as for
 * a pipe without a reader. Cost: 20 us.
 */
export function appendLines(file: AuditFile, lines: readonly string[]): void {
  if (typeof file === 'number') return writeAll(file, lines);
  // `a+` would make this process a reader of the pipe, which would then accept lines until it is full, although no
  // other process reads them.
  const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO() === true;
  const descriptor = openSync(file, isPipe ? APPENDING : 'a+', FILE_MODE);
  try {
    if (isPipe) return writeAll(descriptor, lines);
    const text = lines.map((line) => `${line}\n`).join('');
    if (text !== '') appendFileSync(descriptor, endsInLine(descriptor) ? `\n${text}` : text);
  } finally {
    closeSync(descriptor);
  }
}

/** How long to wait for the rest of a line that a full pipe has taken in part. A pipe takes up to 4,096 bytes whole. */
const REST_MS_MAX = 1000;
const REST_LOOK_MS = 5;
let isBrokenOff = false;
const sleeper = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Ends an incomplete line before the next. Throws the system's errors, such as for a pipe that stays full. */
function writeAll(descriptor: number, lines: readonly string[]): void {
  if (lines.length === 0) return;
  let [remaining, waitedMs] = [
    Buffer.from(`${isBrokenOff ? '\n' : ''}${lines.map((line) => `${line}\n`).join('')}`),
    0,
  ];
  const { length } = remaining;
  while (remaining.length > 0) {
    try {
      remaining = remaining.subarray(writeSync(descriptor, remaining));
      isBrokenOff = remaining.length > 0;
    } catch (cause) {
      if (remaining.length === length || reasonOf(cause) !== 'EAGAIN' || waitedMs >= REST_MS_MAX) throw cause;
      Atomics.wait(sleeper, 0, 0, REST_LOOK_MS);
      waitedMs += REST_LOOK_MS;
    }
  }
}

/** Whether a file ends within a line and is not being written by another process. */
function endsInLine(descriptor: number): boolean {
  const last = new Uint8Array(1);
  for (let { size } = fstatSync(descriptor); size > 0; size = fstatSync(descriptor).size) {
    readSync(descriptor, last, 0, 1, size - 1);
    if (last[0] === LINE_END) return false;
    if (fstatSync(descriptor).size === size) return true;
  }
  return false;
}

/** Throws OperationError `file` if the audit log cannot be written now. */
export function assertAuditFile(file: AuditFile): void {
  if (file !== STANDARD_OUTPUT) assertAppendable('audit log', file, FILE_MODE);
  try {
    appendLines(file, []);
  } catch (cause) {
    throw new OperationError(
      'file',
      `the audit log ${auditFileText(file)} cannot be written (${reasonOf(cause)})`,
      cause,
    );
  }
}

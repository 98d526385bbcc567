// The log: events as lines of JSON, written to a sink or appended to a file. A file is checked at the start, and opened
// so that a pipe without a reader blocks nobody.
import { appendFileSync, closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import type { Observer, ServiceEvent } from './events.ts';

/** As `a` does, but a pipe without a reader is refused, and neither that nor a full one is waited for. */
const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const NO_READER = 'ENXIO';

/** Makes the file if it does not exist. Throws OperationError `file` if it cannot be written now. */
export function assertAppendable(called: string, path: string, mode: number): void {
  try {
    const descriptor = openSync(path, APPENDING, mode);
    // The reader of a pipe ends with who wrote to it last: this one stays, as long as the process.
    if (!fstatSync(descriptor).isFIFO()) closeSync(descriptor);
  } catch (cause) {
    const reason = reasonOf(cause);
    const why = reason === NO_READER ? `${reason}: a pipe needs its reader first` : reason;
    throw new OperationError('file', `the ${called} ${path} cannot be written (${why})`, cause);
  }
}

/** Writes each event as one line of JSON: `time` (ISO 8601, UTC) and `event` first, then its members. */
export function logTo(write: (lines: readonly string[]) => void): Observer {
  return (events) => write(events.map(logLine));
}

/** An event as a line of JSON; line breaks and control characters inside are escaped. */
export function logLine({ kind, at, ...members }: ServiceEvent): string {
  // What is undefined is left out.
  return JSON.stringify({ time: new Date(at * 1000).toISOString(), event: kind, ...members });
}

export type AuditFile = string | typeof STANDARD_OUTPUT;

/** The descriptor that stands for itself where lines are appended. */
export const STANDARD_OUTPUT = 1;

export function nameOfAudit(file: AuditFile): string {
  return file === STANDARD_OUTPUT ? 'on standard output' : file;
}

/** Others may not read who did what. */
const FILE_MODE = 0o600;

const LINE_END = 0x0a;

/**
 * Appends lines to a file, which is opened for those that come together, so that it may be moved away at any time. A
 * line that broke off, with its process or for want of room, is ended first and takes none with it. Throws what the
 * system says, as of a pipe that nobody reads. Cost: 20 us.
 */
export function appendLines(file: AuditFile, lines: readonly string[]): void {
  if (typeof file === 'number') return writeAll(file, lines);
  // Who opens a pipe to read as well is its reader, and has one that nobody else reads take lines until it is full.
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

/** How long the rest of a line is waited with whose beginning a full pipe has taken: it takes 4,096 bytes whole. */
const REST_MS_MAX = 1000;
const REST_LOOK_MS = 5;
let isBrokenOff = false;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** A line that broke off is ended before the next. Throws what the system says, as for a pipe that stays full. */
function writeAll(descriptor: number, lines: readonly string[]): void {
  if (lines.length === 0) return;
  let [left, waitedMs] = [Buffer.from(`${isBrokenOff ? '\n' : ''}${lines.map((line) => `${line}\n`).join('')}`), 0];
  const { length } = left;
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(descriptor, left));
      isBrokenOff = left.length > 0;
    } catch (cause) {
      if (left.length === length || reasonOf(cause) !== 'EAGAIN' || waitedMs >= REST_MS_MAX) throw cause;
      Atomics.wait(never, 0, 0, REST_LOOK_MS);
      waitedMs += REST_LOOK_MS;
    }
  }
}

/** Whether a file ends within a line, and no other process writes it now. */
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
      `the audit log ${nameOfAudit(file)} cannot be written (${reasonOf(cause)})`,
      cause,
    );
  }
}

// The log: events as lines of JSON, one each, to a sink or appended to a file. Decides nothing and drops nothing.
// An observer; wired by the supervisor.
import { appendFileSync, closeSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import type { Observer, ServiceEvent } from './events.ts';
import { APPENDING, assertAppendable } from './logFile.ts';

/**
 * An observer that writes each event as one line of JSON: `time` (ISO 8601, UTC) and `event` first, then its members.
 */
export function logTo(write: (lines: readonly string[]) => void): Observer {
  return (events) => write(events.map(logLine));
}

/** An event as a line of JSON; line breaks and control characters inside are escaped. */
export function logLine({ kind, at, ...members }: ServiceEvent): string {
  // What is undefined is left out.
  return JSON.stringify({ time: new Date(at * 1000).toISOString(), event: kind, ...members, isRecorded: undefined });
}

/** The path of a file, or STANDARD_OUTPUT. */
export type AuditFile = string | typeof STANDARD_OUTPUT;

/** The descriptor that stands for itself where lines are appended. */
export const STANDARD_OUTPUT = 1;

/** Where the threads of a process write: the file, and what they share of it where that is a pipe (see PipeWord). */
export interface AuditLog {
  readonly file: AuditFile;
  readonly pipe: Int32Array;
}

/** The words of a pipe: the ticket of who writes there now, 0 for nobody; whether a line broke off; the last ticket. */
const PipeWord = { taken: 0, brokenOff: 1, last: 2 } as const;

/** Those of the calling thread, which others are handed with an audit log. */
const OWN_PIPE = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));

/** The audit log in a file, as threads are to be handed it: all of them by one thread, and one file. */
export function auditLogOf(file: AuditFile): AuditLog {
  return { file, pipe: OWN_PIPE };
}

function nameOf(file: AuditFile): string {
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
export function appendLines(file: AuditFile, lines: readonly string[], pipe: Int32Array = OWN_PIPE): void {
  if (typeof file === 'number') return writeAll(file, lines, pipe);
  // Who opens a pipe to read as well is its reader, and has one that nobody else reads take lines until it is full.
  const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO() === true;
  const descriptor = openSync(file, isPipe ? APPENDING : 'a+', FILE_MODE);
  try {
    if (isPipe) return writeAll(descriptor, lines, pipe);
    const text = lines.map((line) => `${line}\n`).join('');
    if (text !== '') appendFileSync(descriptor, endsInLine(descriptor) ? `\n${text}` : text);
  } finally {
    closeSync(descriptor);
  }
}

/** How long the rest of a line is waited with whose beginning a full pipe has taken: it takes 4,096 bytes whole. */
const REST_MS_MAX = 1000;
const REST_LOOK_MS = 5;
/** Who has a pipe to itself for longer than it may wait for a rest has ended with its thread. */
const TAKEN_MS_MAX = 2 * REST_MS_MAX;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Writes lines to a descriptor whose reader gets them whole: what breaks off is no line of JSON, and takes none of
 * those behind it with it. Throws what the system says, as at a pipe that is full and stays so.
 */
function writeAll(descriptor: number, lines: readonly string[], pipe: Int32Array): void {
  if (lines.length === 0) return;
  const ticket = take(pipe);
  try {
    const isBrokenOff = Atomics.load(pipe, PipeWord.brokenOff) === 1;
    writeWhole(descriptor, Buffer.from(`${isBrokenOff ? '\n' : ''}${lines.map((line) => `${line}\n`).join('')}`), pipe);
  } finally {
    Atomics.compareExchange(pipe, PipeWord.taken, ticket, 0);
    Atomics.notify(pipe, PipeWord.taken, 1);
  }
}

/** No other thread writes between two pieces of a line. Answers the ticket of who may write now. */
function take(pipe: Int32Array): number {
  const ticket = Atomics.add(pipe, PipeWord.last, 1) + 1;
  for (;;) {
    const holder = Atomics.compareExchange(pipe, PipeWord.taken, 0, ticket);
    if (holder === 0) return ticket;
    const isGone = Atomics.wait(pipe, PipeWord.taken, holder, TAKEN_MS_MAX) === 'timed-out';
    if (isGone && Atomics.compareExchange(pipe, PipeWord.taken, holder, ticket) === holder) return ticket;
  }
}

function writeWhole(descriptor: number, all: Buffer, pipe: Int32Array): void {
  let [left, waitedMs] = [all, 0];
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(descriptor, left));
      Atomics.store(pipe, PipeWord.brokenOff, left.length > 0 ? 1 : 0);
    } catch (cause) {
      if (left.length === all.length || reasonOf(cause) !== 'EAGAIN' || waitedMs >= REST_MS_MAX) throw cause;
      Atomics.wait(never, 0, 0, REST_LOOK_MS);
      waitedMs += REST_LOOK_MS;
    }
  }
}

/** Whether a file ends within a line, and is not just being written by another thread. */
function endsInLine(descriptor: number): boolean {
  const last = new Uint8Array(1);
  for (let { size } = fstatSync(descriptor); size > 0; size = fstatSync(descriptor).size) {
    readSync(descriptor, last, 0, 1, size - 1);
    if (last[0] === LINE_END) return false;
    if (fstatSync(descriptor).size === size) return true;
  }
  return false;
}

/**
 * A sink that appends lines to a file (see appendLines). Throws OperationError `file` when it cannot be written now;
 * `onLost` is told of each line that cannot be written later.
 */
export function appendingTo(file: AuditFile, onLost: (line: string) => void): (lines: readonly string[]) => void {
  if (file !== STANDARD_OUTPUT) assertAppendable('audit log', file, FILE_MODE);
  try {
    appendLines(file, []);
  } catch (cause) {
    throw new OperationError('file', `the audit log ${nameOf(file)} cannot be written (${reasonOf(cause)})`, cause);
  }
  return (lines) => {
    try {
      appendLines(file, lines);
    } catch (cause) {
      for (const line of lines) onLost(`the audit log ${nameOf(file)} cannot be written (${reasonOf(cause)}): ${line}`);
    }
  };
}

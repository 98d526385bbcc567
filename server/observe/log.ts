// The log: events as lines of JSON, one each, to a sink or appended to a file. Decides nothing and drops nothing.
// An observer; wired by the supervisor.
import { appendFileSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import type { Observer, ServiceEvent } from './events.ts';

/**
 * An observer that writes each event as one line of JSON: `time` (ISO 8601, UTC) and `event` first, then its members.
 */
export function logTo(write: (lines: readonly string[]) => void): Observer {
  return (events) => write(events.map(logLine));
}

/** An event as a line of JSON; line breaks and control characters inside are escaped. */
export function logLine({ kind, at, ...members }: ServiceEvent): string {
  return JSON.stringify({ time: new Date(at * 1000).toISOString(), event: kind, ...members });
}

/** Others may not read who did what. */
const FILE_MODE = 0o600;

/**
 * A sink that appends lines to a file, which is opened for those that come together, so that it may be moved away at
 * any time. Throws OperationError `file` when it cannot be written now; `onLost` is told of each line that cannot be
 * written later.
 */
export function appendingTo(file: string, onLost: (line: string) => void): (lines: readonly string[]) => void {
  const append = (text: string): void => appendFileSync(file, text, { mode: FILE_MODE });
  try {
    append('');
  } catch (cause) {
    throw new OperationError('file', `the audit log ${file} cannot be written (${reasonOf(cause)})`, cause);
  }
  return (lines) => {
    try {
      append(lines.map((line) => `${line}\n`).join(''));
    } catch (cause) {
      for (const line of lines) onLost(`the audit log ${file} cannot be written (${reasonOf(cause)}): ${line}`);
    }
  };
}

// A file that lines are to be appended to: whether it can be is found out at a start, and how one is opened that may be
// a pipe, so that nobody is waited for. Writes nothing.
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';

/** As `a` does, but a pipe without a reader is refused, and neither that nor a full one is waited for. */
export const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
/** What the system says of such a pipe. */
const NO_READER = 'ENXIO';

/**
 * Makes the file, with a mode, where there is none. Throws OperationError `file`, by what the file is called, where it
 * cannot be written now.
 */
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

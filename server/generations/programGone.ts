// The program may be replaced on disk while it runs. The code of threads that start later is then missing.
import { OperationError } from '../../data/operationError.ts';

export const PROGRAM_GONE = 'the program is not where it was when the server started: start the server again';

/** The error of a thread that cannot start: OperationError `file` if the program is gone, else the error as it is. */
export function unreadProgram(error: unknown): unknown {
  const isGone = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
  return isGone ? new OperationError('file', PROGRAM_GONE, error) : error;
}

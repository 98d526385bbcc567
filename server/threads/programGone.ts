// The program may be replaced on disk while it runs. Code that is read later is then missing.
import { OperationError } from '../../data/operationError.ts';

export const PROGRAM_GONE = 'the program is not where it was when the server started: start the server again';

export class ProgramGone extends OperationError {
  constructor(cause: unknown) {
    super('file', PROGRAM_GONE, cause);
  }
}

/** The reason why code could not be read: that the program is gone, or the error as it is. */
export function unreadProgram(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' ? new ProgramGone(error) : error;
}

// The bytes of a file that a command was given; what the system says of one that cannot be read is told in one word.
// Knows nothing of what files hold.
import { readFileSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';

/** The bytes of a file. Throws OperationError `file`, such as `chain.pem cannot be read (ENOENT)`. Cost: its length. */
export function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new OperationError('file', `${file} cannot be read (${reasonOf(cause)})`, cause);
  }
}

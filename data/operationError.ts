/**
 * The reason of a failure.
 * `input`: the input files are wrong. The message has file, line and JSON pointer. Correct them or use `--lenient`.
 * `snapshot`: a snapshot file is damaged or of another version. Build it again with `import`.
 * `file`: a file cannot be read or written; see the cause.
 * `memory`: there is not enough memory. The message has the required size.
 * `usage`: a setting or argument is wrong. The message says what is expected.
 * `port`: the port is in use or not allowed.
 * `starved`: descriptors, threads or memory ran out. Raise the limits of the process, or reduce its work.
 * `network`: another server or a mount does not respond, or its response is invalid; see the message.
 * `discarded`: the fetched data was refused, and removed as requested. The next run starts over.
 * `refused`: a certificate, a publication or a request is refused; the message has the reason.
 */
export type OperationErrorCode =
  'input' | 'snapshot' | 'file' | 'memory' | 'usage' | 'port' | 'starved' | 'network' | 'discarded' | 'refused';

/**
 * A failure outside the program: disk, network, input files, settings. I/O code throws it, and it is handled where the
 * process is composed. Never for a client error (a returned Problem) or a bug (an assertion). The message has one or
 * more complete lines for operators.
 */
export class OperationError extends Error {
  readonly code: OperationErrorCode;
  /** Set once a log has the message, so that it is printed only once. */
  isLogged = false;
  constructor(code: OperationErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'OperationError';
    this.code = code;
  }
}

/** The system's code for an error, such as `ENOENT`, or the error as text. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}

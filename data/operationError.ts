// The world's fault: disk, network, input files. Thrown by I/O code, handled where the process is composed.
// Never for what a client sent (a returned Problem) nor for a bug of ours (an assertion).

/**
 * Why an operation could not be done.
 * `input`: the input files are wrong (message says file, line and JSON pointer); mend them or use `--lenient`.
 * `snapshot`: a snapshot file is damaged or of another version; build it again with `import`.
 * `file`: a file cannot be read or written; see the cause.
 * `memory`: there is no room for it in memory; the message says how much it takes.
 * `usage`: a setting or argument is wrong; the message says what is wanted.
 * `port`: the port cannot be taken.
 * `starved`: descriptors, threads or memory ran out; give the process more, or ask less of it.
 * `network`: another server, or a mount, does not answer, or its answer makes no sense; see the message.
 * `discarded`: what was fetched is refused, and removed as was asked for; the next run fetches all anew.
 * `refused`: a certificate is not accepted, or an authority refuses; the message says why.
 */
export type OperationErrorCode =
  'input' | 'snapshot' | 'file' | 'memory' | 'usage' | 'port' | 'starved' | 'network' | 'discarded' | 'refused';

/** An operation that failed for a reason outside the program. The message is one or more whole lines for people. */
export class OperationError extends Error {
  readonly code: OperationErrorCode;
  constructor(code: OperationErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'OperationError';
    this.code = code;
  }
}

/** The system's word for what went wrong, such as `ENOENT`; the text of what has none. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}

// Ports that were taken or refused: the one place that knows how a refused port is said. Opens none; claim.ts and the
// listeners do.
import { OperationError } from '../../data/operationError.ts';

/** The flag of the port that clients know. */
export const MAIN_FLAG = '--port';

/** The port of a bound socket as node:net tells it. */
export function boundPort(address: { readonly port: number } | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('a listening TCP socket has a port');
  return address.port;
}

/**
 * The error for a port that cannot be taken; `cause` is what the system said, where it said anything, `flag` what to
 * choose another by, `holder` who has it and is to be stopped.
 */
export function portRefused(
  host: string,
  port: number,
  cause?: unknown,
  flag = MAIN_FLAG,
  holder = ': stop the program that has it',
): OperationError {
  return new OperationError('port', `port ${port} on ${host} ${reasonOf(cause, flag, holder)}`, cause);
}

function reasonOf(cause: unknown, flag: string, holder: string): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `is in use${holder}, or choose another with ${flag} (0 takes a free one)`;
    case 'EACCES':
      return `is reserved for the system administrator: choose one above 1023 with ${flag}`;
    case 'ENOTFOUND':
      return 'cannot be taken: that name has no address; choose another with --host';
    case 'EADDRNOTAVAIL':
      return 'cannot be taken: the address is not one of this machine; choose another with --host';
    case 'ENOTSUP':
      return 'cannot be shared by threads here without uWebSockets.js: run Node 22';
    default:
      return 'cannot be taken: it is in use, or the address is not one of this machine';
  }
}

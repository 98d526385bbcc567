// Taking ports: the one place that knows how a refused port is said. Threads of one program share a port with
// SO_REUSEPORT, and so could two programs by accident: claimPort finds that out.
import { createServer } from 'node:net';

import { OperationError } from '../../data/operationError.ts';

/** The flag of the port that clients know. */
const MAIN_FLAG = '--port';

/**
 * The port that may be listened on: `port` itself, or a free one where it is 0. Binds it without SO_REUSEPORT, which
 * the kernel refuses while anyone listens there, shared or not, and closes it again. `flag` is what people choose it
 * by. Throws OperationError `port` when it is taken, forbidden, or the address is not this machine's.
 */
export async function claimPort(host: string, port: number, flag = MAIN_FLAG): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (cause) => reject(portRefused(host, port, cause, flag)));
    probe.listen({ host, port, exclusive: true }, resolve);
  });
  const claimed = boundPort(probe.address());
  await new Promise((resolve) => probe.close(resolve));
  return claimed;
}

/** The port of a bound socket as node:net tells it. */
export function boundPort(address: { readonly port: number } | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('a listening TCP socket has a port');
  return address.port;
}

/**
 * The error for a port that cannot be taken; `cause` is what the system said, where it said anything, `flag` what to
 * choose another by.
 */
export function portRefused(host: string, port: number, cause?: unknown, flag = MAIN_FLAG): OperationError {
  return new OperationError('port', `port ${port} on ${host} ${reasonOf(cause, flag)}`, cause);
}

function reasonOf(cause: unknown, flag: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `is in use: stop the program that has it, or choose another with ${flag} (0 takes a free one)`;
    case 'EACCES':
      return `is reserved for the system administrator: choose one above 1023 with ${flag}`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'cannot be taken: the address is not one of this machine; choose another with --host';
    default:
      return 'cannot be taken: it is in use, or the address is not one of this machine';
  }
}

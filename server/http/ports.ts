// Taking ports: the one place that knows how a refused port is said. Threads of one program share a port with
// SO_REUSEPORT, and so could two programs by accident: a claimed port is held until those who share it listen.
import { createServer, type Socket } from 'node:net';

import { OperationError } from '../../data/operationError.ts';
import { holdersOf, isShared } from './portHolders.ts';

/** The flag of the port that clients know. */
const MAIN_FLAG = '--port';

const DETAIL = JSON.stringify({ detail: 'The data is being loaded: try again in a moment.' });
/** What is answered to whoever asks before there is anything to answer from. */
const LOADING = `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: application/json\r\nContent-Length: ${DETAIL.length}\r\n\r\n${DETAIL}`;
/** Clients that are told so at once; the others are hung up on. */
const TOLD_MAX = 256;
const SILENT_MS_MAX = 5000;

/** A port that nobody else can listen on until it is released, to be listened on at once. */
export interface ClaimedPort {
  readonly port: number;
  release(): Promise<void>;
}

/**
 * Claims `port`, or a free one where it is 0. Binds it without SO_REUSEPORT, which the kernel refuses while anyone
 * listens there, shared or not; whoever asks meanwhile gets 503. `flag` is what people choose it by. Throws
 * OperationError `port` when it is taken, forbidden, or the address is not this machine's.
 */
export async function claimPort(host: string, port: number, flag = MAIN_FLAG): Promise<ClaimedPort> {
  const clients = new Set<Socket>();
  const holder = createServer((socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket)).on('error', () => undefined);
    socket.once('data', () => socket.end(LOADING)).setTimeout(SILENT_MS_MAX, () => socket.destroy());
  });
  holder.maxConnections = TOLD_MAX;
  await new Promise<void>((resolve, reject) => {
    holder.once('error', (cause) => reject(portRefused(host, port, cause, flag)));
    holder.listen({ host, port, exclusive: true }, resolve);
  });
  let released: Promise<void> | undefined;
  const release = (): Promise<void> =>
    (released ??= new Promise((resolve) => {
      holder.close(() => resolve());
      for (const client of clients) client.destroySoon();
    }));
  return { port: boundPort(holder.address()), release };
}

/**
 * Throws OperationError `port` where another program has come to listen on a port that this process's threads share,
 * in the moment between its release and their listening. Only Linux tells.
 */
export function assertOwn(host: string, port: number, flag = MAIN_FLAG): void {
  if (isShared(port)) throw portRefused(host, port, { code: 'EADDRINUSE' }, flag);
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
  return new OperationError('port', `port ${port} on ${host} ${reasonOf(port, cause, flag)}`, cause);
}

function reasonOf(port: number, cause: unknown, flag: string): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `is in use${byWhom(port)}, or choose another with ${flag} (0 takes a free one)`;
    case 'EACCES':
      return `is reserved for the system administrator: choose one above 1023 with ${flag}`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'cannot be taken: the address is not one of this machine; choose another with --host';
    default:
      return 'cannot be taken: it is in use, or the address is not one of this machine';
  }
}

/** Which programs have a port and have to be stopped; ours is the one that asks. */
function byWhom(port: number): string {
  const others = holdersOf(port).filter(({ pid }) => pid !== process.pid);
  if (others.length === 0) return ': stop the program that has it';
  return ` by ${others.map(({ pid, program }) => `${program} (process ${pid})`).join(' and ')}: stop that`;
}

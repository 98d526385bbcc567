// Claims a port while a server starts: checks that it is free, names the process that uses it, and responds 503 until
// the serving threads listen. They share the port with SO_REUSEPORT, which would hide a conflict. Another process can
// be named only on Linux and if it runs under the same user.
import { OperationError } from '../../data/operationError.ts';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';

const MAIN_FLAG = '--port';

export function boundPort(address: { readonly port: number } | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('a listening TCP socket has a port');
  return address.port;
}

/** `flag` is the setting that chooses another port; `holder` names the process to stop. */
export function portRefused(
  host: string,
  port: number,
  cause?: unknown,
  flag = MAIN_FLAG,
  holder = ': stop the program that has it',
): OperationError {
  return new OperationError('port', `port ${port} on ${host} ${describeReason(cause, flag, holder)}`, cause);
}

function describeReason(cause: unknown, flag: string, holder: string): string {
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

const DETAIL = JSON.stringify({ detail: 'The data is being loaded: try again in a moment.' });
/** The response before there is any data. The body follows it, except for HEAD. */
const LOADING = `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: application/json\r\nContent-Length: ${DETAIL.length}\r\n\r\n`;
/** Clients that get this response at once; further connections are closed. */
const DETAIL_CHARACTERS_MAX = 256;
const SILENT_MS_MAX = 5000;

/**
 * Claims `port`, or a free one if it is 0. Binds it without SO_REUSEPORT, which the kernel refuses while any process
 * listens there, shared or not. Clients get 503 until `release`. `flag` is the setting that chooses the port. Throws
 * OperationError `port` if the port is in use or reserved, or the address is not one of this machine. A claim keeps no
 * process alive.
 */
export async function claimPort(host: string, port: number, flag = MAIN_FLAG) {
  const clients = new Set<Socket>();
  const holder = createServer((socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket)).on('error', () => undefined);
    socket.once('data', (bytes) => socket.end(loadingAnswer(bytes))).setTimeout(SILENT_MS_MAX, () => socket.destroy());
  });
  holder.maxConnections = DETAIL_CHARACTERS_MAX;
  await new Promise<void>((resolve, reject) => {
    holder.once('error', (cause) => reject(portRefused(host, port, cause, flag, holderText(port))));
    holder.unref().listen({ host, port, exclusive: true }, resolve);
  });
  let released: Promise<void> | undefined;
  const release = (): Promise<void> =>
    (released ??= new Promise((resolve) => {
      holder.close(() => resolve());
      for (const client of clients) client.destroySoon();
    }));
  return { port: boundPort(holder.address()), release };
}

function loadingAnswer(request: Buffer): string {
  return request.toString('latin1', 0, 5) === 'HEAD ' ? LOADING : LOADING + DETAIL;
}

/** Claims the ports of a server, including one for HTTP/1.0 if configured. Throws as `claimPort` does. */
export async function claimPorts(host: string, port: number, http10Port: number | undefined) {
  const main = await claimPort(host, port);
  const http10 = http10Port === undefined ? undefined : await claimPort(host, http10Port, '--http10-port');
  const release = async (): Promise<void> => void (await Promise.all([main.release(), http10?.release()]));
  return { port: main.port, http10Port: http10?.port, release };
}

/** Names the programs to stop, if known, other than this process. */
function holderText(port: number): string | undefined {
  const others = findHolders(port).filter(({ pid }) => pid !== process.pid);
  if (others.length === 0) return undefined;
  return ` by ${others.map(({ pid, program }) => `${program} (process ${pid})`).join(' and ')}: stop that`;
}

interface Holder {
  readonly pid: number;
  readonly program: string;
}

const TABLES: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';
/** Limit of processes to examine. On a larger machine, its own tools answer the question. */
const PROCESSES_MAX = 10_000;

/** The processes that listen on a port. Reads every descriptor of every process, so it is for error messages only. */
export function findHolders(port: number): readonly Holder[] {
  const inodes = new Set(listeningInodes(port));
  if (inodes.size === 0) return [];
  const pids = listNames('/proc').filter((name) => /^\d+$/.test(name));
  return pids.slice(0, PROCESSES_MAX).flatMap((pid) => {
    const isHolder = socketInodes(`/proc/${pid}/fd`).some((inode) => inodes.has(inode));
    return isHolder ? [{ pid: Number(pid), program: readText(`/proc/${pid}/comm`).trim() }] : [];
  });
}

function listeningInodes(port: number): readonly string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = TABLES.flatMap((table) => readText(table).split('\n').slice(1));
  return lines.flatMap((line) => {
    const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === LISTENS && address.endsWith(end) ? [inode] : [];
  });
}

function socketInodes(directory: string): readonly string[] {
  return listNames(directory).flatMap((name) => /^socket:\[(\d+)\]$/.exec(linkAt(`${directory}/${name}`))?.[1] ?? []);
}

// Processes may end meanwhile, and those of other users are not readable.

function listNames(directory: string): readonly string[] {
  return emptyOnError(() => readdirSync(directory), []);
}

function linkAt(path: string): string {
  return emptyOnError(() => readlinkSync(path), '');
}

function readText(path: string): string {
  return emptyOnError(() => readFileSync(path, 'utf8'), '');
}

function emptyOnError<T>(read: () => T, empty: T): T {
  try {
    return read();
  } catch {
    return empty;
  }
}

// Who listens on a port, as Linux tells it: for the error that a taken port gives, and to see that nobody shares ours.
// Nothing is told elsewhere, nor of the processes of other users.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that listens: its number, and the name of its program. */
export interface Holder {
  readonly pid: number;
  readonly program: string;
}

/** A listening socket: its address as the kernel writes it, port included, and its number. */
interface ListeningSocket {
  readonly address: string;
  readonly inode: string;
}

const TABLES: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';
/** Processes that are looked through, at most: a machine of more is asked about with its own tools. */
const PROCESSES_MAX = 10_000;

/**
 * The processes that listen on a port, on whatever address, ours among them. Cost: a look at every descriptor of every
 * process; for errors alone.
 */
export function holdersOf(port: number): readonly Holder[] {
  const inodes = new Set(socketsOn(port).map(({ inode }) => inode));
  if (inodes.size === 0) return [];
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  return pids.slice(0, PROCESSES_MAX).flatMap((pid) => {
    const isHolder = socketInodes(`/proc/${pid}/fd`).some((inode) => inodes.has(inode));
    return isHolder ? [{ pid: Number(pid), program: textIn(`/proc/${pid}/comm`).trim() }] : [];
  });
}

/**
 * Whether another process listens on an address and port that this one listens on too, which SO_REUSEPORT allows it.
 * Cost: a look at this process's descriptors.
 */
export function isShared(port: number): boolean {
  const own = new Set(socketInodes('/proc/self/fd'));
  const sockets = socketsOn(port);
  const ours = new Set(sockets.filter(({ inode }) => own.has(inode)).map(({ address }) => address));
  return sockets.some(({ address, inode }) => ours.has(address) && !own.has(inode));
}

function socketsOn(port: number): readonly ListeningSocket[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = TABLES.flatMap((table) => textIn(table).split('\n').slice(1));
  return lines.flatMap((line) => {
    const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === LISTENS && address.endsWith(end) ? [{ address, inode }] : [];
  });
}

function socketInodes(directory: string): readonly string[] {
  return namesIn(directory).flatMap((name) => /^socket:\[(\d+)\]$/.exec(linkAt(`${directory}/${name}`))?.[1] ?? []);
}

// Processes come and go while they are looked at, and those of others may not be.

function namesIn(directory: string): readonly string[] {
  return orEmpty(() => readdirSync(directory), []);
}

function linkAt(path: string): string {
  return orEmpty(() => readlinkSync(path), '');
}

function textIn(path: string): string {
  return orEmpty(() => readFileSync(path, 'utf8'), '');
}

function orEmpty<T>(read: () => T, empty: T): T {
  try {
    return read();
  } catch {
    return empty;
  }
}

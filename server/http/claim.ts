// Claiming a port for the threads of one program, which share it with SO_REUSEPORT, as two programs could by accident:
// it is held until they listen, which they do in a turn of their own, and whoever else listens there is named. Linux
// tells who that is, of the processes of this user.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { boundPort, MAIN_FLAG, portRefused } from './ports.ts';

const DETAIL = JSON.stringify({ detail: 'The data is being loaded: try again in a moment.' });
/** What is answered to whoever asks before there is anything to answer from, behind it the body, but to a HEAD. */
const LOADING = `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: application/json\r\nContent-Length: ${DETAIL.length}\r\n\r\n`;
/** Clients that are told so at once; the others are hung up on. */
const TOLD_MAX = 256;
const SILENT_MS_MAX = 5000;

/** A port that nobody else can listen on until it is released, to be listened on at once, within one turn at it. */
export interface ClaimedPort {
  readonly port: number;
  release(): Promise<void>;
}

/**
 * Claims `port`, or a free one where it is 0. Binds it without SO_REUSEPORT, which the kernel refuses while anyone
 * listens there, shared or not; whoever asks meanwhile gets 503. `flag` is what people choose it by. Waits while
 * another process of this program is between its release and its listening (`inTurnAt`). Throws OperationError `port`
 * when it is taken, forbidden, or the address is not this machine's.
 */
export function claimPort(host: string, port: number, flag = MAIN_FLAG): Promise<ClaimedPort> {
  return port === 0 ? claimed(host, port, flag) : inTurnAt(host, [port], () => claimed(host, port, flag));
}

async function claimed(host: string, port: number, flag: string): Promise<ClaimedPort> {
  const clients = new Set<Socket>();
  const holder = createServer((socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket)).on('error', () => undefined);
    socket.once('data', (bytes) => socket.end(loadingAnswer(bytes))).setTimeout(SILENT_MS_MAX, () => socket.destroy());
  });
  holder.maxConnections = TOLD_MAX;
  await new Promise<void>((resolve, reject) => {
    holder.once('error', (cause) => reject(portRefused(host, port, cause, flag, byWhom(port))));
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

function loadingAnswer(request: Buffer): string {
  return request.toString('latin1', 0, 5) === 'HEAD ' ? LOADING : LOADING + DETAIL;
}

/** The ports of a server; the one for HTTP/1.0 where it has one. */
export interface Claims {
  readonly main: ClaimedPort;
  readonly http10: ClaimedPort | undefined;
  release(): Promise<void>;
}

/** Claims the ports of a server, all or none. Throws as `claimPort`. */
export async function claimPorts({
  host,
  port,
  http10Port,
}: {
  readonly host: string;
  readonly port: number;
  readonly http10Port: number | undefined;
}): Promise<Claims> {
  const main = await claimPort(host, port);
  try {
    const http10 = http10Port === undefined ? undefined : await claimPort(host, http10Port, '--http10-port');
    return { main, http10, release: async () => void (await Promise.all([main.release(), http10?.release()])) };
  } catch (error) {
    await main.release();
    throw error;
  }
}

/** What `start` gives. Where it throws, ports are released: they would keep a process alive that has no threads. */
export async function orReleased<T>(claims: Claims, start: () => T): Promise<T> {
  try {
    return start();
  } catch (error) {
    await claims.release();
    throw error;
  }
}

/** So many tries, 30 s: threads that have read the program open their data and listen in far less. */
const TRIES_MAX = 1500;
const RETRY_MS = 20;

/**
 * Runs `change` while no other process of this program is in such a turn at one of `ports`, and gives its result.
 * Throws what `change` throws, and OperationError `port` after 30 s of waiting, as where another is stopped in the
 * middle of it. Turns are waited for in the order of ports, so that no two wait for each other. A token is a socket in
 * Linux's abstract namespace: it leaves no file, is gone with its process however that ends, and is seen where the port
 * is, in one network namespace. Elsewhere nobody waits for anybody.
 */
export async function inTurnAt<T>(host: string, ports: readonly number[], change: () => Promise<T>): Promise<T> {
  const tokens: (Server | undefined)[] = [];
  try {
    if (process.platform === 'linux')
      for (const port of ports.toSorted((a, b) => a - b)) tokens.push(await tokenOf(host, port));
    return await change();
  } finally {
    for (const token of tokens) token?.close();
  }
}

/** Undefined where the system has no such names to give, as for want of a descriptor: who comes next will say why. */
async function tokenOf(host: string, port: number): Promise<Server | undefined> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { token, code } = await listening(`\0catalogue-replica port ${port}`);
    if (code !== 'EADDRINUSE') return token;
    await delay(RETRY_MS);
  }
  throw portRefused(host, port, { code: 'EADDRINUSE' }, undefined, ' by another start that does not end: stop it');
}

function listening(path: string): Promise<{ readonly token?: Server; readonly code?: string | undefined }> {
  // Nobody has anything to say here.
  const token = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    token.once('error', ({ code }: NodeJS.ErrnoException) => resolve({ code }));
    token.listen(path, () => resolve({ token }));
  });
}

/**
 * Throws OperationError `port` where a program that takes no turns, so none of ours, has come to share a port in the
 * moment between its release and the listening of this process's threads. Only Linux tells.
 */
export function assertOwn(host: string, port: number, flag = MAIN_FLAG): void {
  if (isShared(port)) throw portRefused(host, port, { code: 'EADDRINUSE' }, flag, byWhom(port));
}

/** Which programs have a port and have to be stopped, where that is told; ours is the one that asks. */
function byWhom(port: number): string | undefined {
  const others = holdersOf(port).filter(({ pid }) => pid !== process.pid);
  if (others.length === 0) return undefined;
  return ` by ${others.map(({ pid, program }) => `${program} (process ${pid})`).join(' and ')}: stop that`;
}

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

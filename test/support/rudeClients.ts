// Clients with bad manners on raw sockets: they read slowly, leave in the middle, or pipeline and do not read. What
// they are sent is compared byte for byte while it comes, never kept. Knows pages as targets with their bodies.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { clientOf } from './client.ts';
import { requestOf } from './rawSocket.ts';

/** A request, and the body that it is answered with when it is asked alone, by the coding that the answer names. */
export interface KnownPage {
  readonly request: string;
  readonly bodies: Readonly<Record<string, Buffer>>;
}

/**
 * What a client was sent: answers that came whole and right, and what was wrong, in words. Part of an answer is
 * neither.
 */
export interface Sent {
  readonly whole: number;
  readonly wrong: string | undefined;
}

/** Asks for each target alone, with and without gzip, which must be the same. `coding` is what the requests accept. */
export async function knownPages(port: number, targets: readonly string[], coding: string): Promise<KnownPage[]> {
  const client = clientOf(`http://127.0.0.1:${port}`);
  const pages: KnownPage[] = [];
  for (const target of targets) {
    const { bytes: identity } = await client.get(target);
    const { bytes: gzip } = await client.get(target, { 'accept-encoding': 'gzip' });
    assert(gunzipSync(gzip).equals(identity), target);
    const request = requestOf('GET', target, [`Accept-Encoding: ${coding}`]);
    pages.push({ request, bodies: { identity, gzip } });
  }
  client.close();
  return pages;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
const HEAD_BYTES_MAX = 4096;

/** Compares what comes on a connection with the answers it must be, in order. Cost: one look at every byte. */
class AnswerReader {
  readonly #pages: readonly KnownPage[];
  whole = 0;
  wrong: string | undefined;
  #head: Buffer = NOTHING;
  #body: Buffer = NOTHING;
  #offset = -1;

  constructor(pages: readonly KnownPage[]) {
    this.#pages = pages;
  }

  get isOver(): boolean {
    return this.whole === this.#pages.length || this.wrong !== undefined;
  }

  take(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0 && this.wrong === undefined;) {
      if (this.whole === this.#pages.length) this.wrong = 'bytes behind the last answer';
      else rest = this.#offset < 0 ? this.#takeHead(rest) : this.#takeBody(rest);
    }
  }

  #takeHead(bytes: Buffer): Buffer {
    const before = this.#head.length;
    this.#head = Buffer.concat([this.#head, bytes.subarray(0, HEAD_BYTES_MAX)]);
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) {
      if (this.#head.length > HEAD_BYTES_MAX) this.wrong = 'no head';
      return bytes.subarray(HEAD_BYTES_MAX);
    }
    const head = this.#head.toString('latin1', 0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    const coding = /^content-encoding: (.*)$/im.exec(head)?.[1] ?? 'identity';
    this.#body = this.#pages[this.whole]!.bodies[coding] ?? NOTHING;
    if (!head.startsWith('HTTP/1.1 200 OK\r\n') || length !== this.#body.length) {
      this.wrong = `answer ${this.whole} has ${length} bytes instead of ${this.#body.length}`;
    }
    this.#head = NOTHING;
    this.#offset = 0;
    return bytes.subarray(end + HEAD_END.length - before);
  }

  #takeBody(bytes: Buffer): Buffer {
    const body = this.#body;
    const part = bytes.subarray(0, body.length - this.#offset);
    const wanted = body.subarray(this.#offset, this.#offset + part.length);
    if (!wanted.equals(part)) this.wrong = `answer ${this.whole} has other bytes behind ${this.#offset}`;
    this.#offset += part.length;
    if (this.#offset === body.length) {
      this.whole++;
      this.#offset = -1;
    }
    return bytes.subarray(part.length);
  }
}

/** A connection; `error` is heard so that a reset is only an end. */
function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

function written(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => socket.write(text, 'latin1', () => resolve()));
}

/**
 * Reads until all answers are there, or the connection ended, `stepBytes` at a time and then a turn of the event loop
 * for others.
 */
async function readOut(socket: Socket, pages: readonly KnownPage[], stepBytes: number): Promise<Sent> {
  const reader = new AnswerReader(pages);
  let isEnded = false as boolean;
  let wake = (): void => undefined;
  socket.on('readable', () => wake());
  socket.once('close', () => {
    isEnded = true;
    wake();
  });
  while (!reader.isOver) {
    const length = Math.min(stepBytes, socket.readableLength);
    const bytes = length > 0 ? (socket.read(length) as Buffer | null) : null;
    if (bytes) {
      reader.take(bytes);
      await new Promise((resolve) => setImmediate(resolve));
    } else if (isEnded || socket.destroyed) break;
    else {
      const more = new Promise<void>((resolve) => (wake = resolve));
      // Lets the stream ask the kernel for more, or find that there is no more.
      socket.read(0);
      if (socket.readableLength === 0) await more;
    }
  }
  socket.resetAndDestroy();
  return { whole: reader.whole, wrong: reader.wrong };
}

/** What slow readers take at a time. */
const SLOW_BYTES = 4096;
const FAST_BYTES = 1 << 20;

/** So many clients at once that ask for each page when they have the one before, and read 4 KiB of it at a time. */
export function readSlowly(port: number, pages: readonly KnownPage[], clients: number): Promise<Sent[]> {
  const one = async (): Promise<Sent> => {
    const socket = await opened(port);
    await written(socket, pages[0]!.request);
    return readOut(socket, [pages[0]!], SLOW_BYTES);
  };
  return Promise.all(Array.from({ length: clients }, one));
}

/** So many clients that send all requests at once and read the answers as they come. */
export function pipeline(port: number, pages: readonly KnownPage[], clients: number): Promise<Sent[]> {
  const text = pages.map(({ request }) => request).join('');
  const one = async (): Promise<Sent> => {
    const socket = await opened(port);
    await written(socket, text);
    return readOut(socket, pages, FAST_BYTES);
  };
  return Promise.all(Array.from({ length: clients }, one));
}

/**
 * So many clients that send all requests at once and read nothing, until a request of another one, sent behind all of
 * theirs, is answered. Then they read what there is.
 */
export async function pipelineUnread(port: number, pages: readonly KnownPage[], clients: number): Promise<Sent[]> {
  const text = pages.map(({ request }) => request).join('');
  const sockets = await Promise.all(Array.from({ length: clients }, () => opened(port)));
  await Promise.all(sockets.map((socket) => written(socket, text)));
  const other = clientOf(`http://127.0.0.1:${port}`);
  await other.get('/api/v3/');
  other.close();
  return Promise.all(sockets.map((socket) => readOut(socket, pages, FAST_BYTES)));
}

/** Requests that clients break off at once: enough to be quick, few enough for every system's limits. */
const ABORTS_AT_ONCE = 100;

/**
 * So many clients that ask and leave, with a reset: in turn before their request is whole, behind it, with the first
 * bytes of the answer, and behind `heavy`, which is for the pool. Some ask for several pages at once.
 */
export async function abort(port: number, pages: readonly KnownPage[], heavy: string, clients: number): Promise<void> {
  const all = pages.map(({ request }) => request).join('');
  const one = async (i: number): Promise<void> => {
    const socket = await opened(port);
    const { request } = pages[i % pages.length]!;
    const way = i % 5;
    await written(socket, [request.slice(0, 20), request, request, all, heavy][way]!);
    if (way === 2) await new Promise<void>((resolve) => socket.once('data', () => resolve()).once('close', resolve));
    socket.resetAndDestroy();
  };
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < clients) await one(next++);
  };
  await Promise.all(Array.from({ length: ABORTS_AT_ONCE }, some));
}

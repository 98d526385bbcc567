// A client of raw bytes: it sends exactly the bytes of a test, and splits the received bytes into responses by
// Content-Length. For requests that no HTTP client would send, and for clients that read slowly, pipeline or vanish.
import { connect, type Socket } from 'node:net';
import { withinLimit } from './waits.ts';

/** A request with Host and further header lines. */
export function requestOf(method: string, target: string, lines: readonly string[] = [], body = ''): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: test', ...lines, '', body].join('\r\n');
}

/** The simplest request. */
export const GET = requestOf('GET', '/');

/** Approximate bytes of a page of 100 observations. */
export const PAGE_BYTES = 400_000;

/** One response. Header names are in lower case, each with all its lines; `body` is the bytes as Latin-1 text. */
export interface RawAnswer {
  readonly status: number;
  readonly version: string;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

/** A connection to 127.0.0.1. All its promises settle when the connection ends, so no test waits on a clock. */
export class RawSocket {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  readonly #chunks: Buffer[] = [];
  #isEnded = false;
  readonly #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#stir();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#isEnded = true;
      this.#stir();
    });
  }

  /**
   * Connects. `isReading: false` leaves all received bytes in the kernel until `read()` is called. With `stepBytes` it
   * reads at most this many bytes in a turn of the event loop.
   */
  static open(port: number, isReading = true, stepBytes?: number): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const callback = (count: number, buffer: Uint8Array): boolean => {
        socket.emit('data', Buffer.from(buffer.subarray(0, count)));
        setImmediate(() => socket.resume());
        return false;
      };
      const onread = stepBytes === undefined ? undefined : { buffer: new Uint8Array(stepBytes), callback };
      const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true, ...(onread && { onread }) });
      socket.once('error', reject);
      socket.once('connect', () => {
        const raw = new RawSocket(socket);
        if (!isReading) socket.pause();
        resolve(raw);
      });
    });
  }

  /** Sends the text as Latin-1 bytes, or the bytes; resolves when the kernel has them or the connection has ended. */
  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      const sent = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
      this.#socket.write(sent, () => resolve());
    });
  }

  /** Starts to read on a connection opened with `isReading: false`. */
  read(): void {
    this.#socket.resume();
  }

  /** The next response, or undefined if the connection ends before it is whole. `isHead` expects no body. */
  async answer(isHead = false): Promise<RawAnswer | undefined> {
    for (;;) {
      this.#join();
      const answer = parsed(this.#received, isHead);
      if ('answer' in answer) {
        this.#received = this.#received.subarray(answer.bytes);
        return answer.answer;
      }
      if (this.#isEnded) return undefined;
      await this.#more(answer.missing);
    }
  }

  /** Resolves when more bytes have arrived, or when the connection has ended. */
  async more(): Promise<void> {
    if (!this.#isEnded) await this.#more();
  }

  /** Resolves when the connection has ended, with the received bytes that no call of `answer` has consumed. */
  async ended(): Promise<string> {
    this.#socket.resume();
    while (!this.#isEnded) await this.#more();
    this.#join();
    return this.#received.toString('latin1');
  }

  /** Resets the connection. */
  vanish(): void {
    this.#socket.resetAndDestroy();
  }

  /** Ends the sending side only. */
  finish(): void {
    this.#socket.end();
  }

  #join(): void {
    if (this.#chunks.length > 0) this.#received = Buffer.concat([this.#received, ...this.#chunks.splice(0)]);
  }

  /** Resolves when this many more bytes have arrived, or when the connection has ended. */
  async #more(bytes = 1): Promise<void> {
    do {
      const more = new Promise<void>((resolve) => this.#wake.push(resolve));
      await withinLimit(more, () => `nothing more after ${this.#received.toString('latin1')}`);
    } while (!this.#isEnded && this.#chunks.reduce((sum, { length }) => sum + length, 0) < bytes);
  }

  #stir(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** The first response and its bytes, or a lower bound of its missing bytes. */
function parsed(received: Buffer, isHead: boolean): { answer: RawAnswer; bytes: number } | { missing: number } {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return { missing: 1 };
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  const status = Number(statusLine.slice(9, 12));
  const isEmpty = isHead || status === 304 || status === 100;
  // A response without a length, such as uWebSockets.js's own refusals, ends with the connection: its body stays
  // unread.
  const bytes = headEnd + 4 + (isEmpty ? 0 : Number(headers.get('content-length')?.[0] ?? 0));
  if (received.length < bytes) return { missing: bytes - received.length };
  const body = received.toString('latin1', headEnd + 4, bytes);
  return { answer: { status, version: statusLine.slice(0, 8), headers, body }, bytes };
}

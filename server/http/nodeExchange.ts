// One request being answered over node:http: head, body through back-pressure, clients that leave.
// Holds at most one piece of WRITE_BYTES_MAX per answer: node:http keeps what it is given, so pieces are copied.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Body } from '../../engine/engine.ts';
import { assertHeaderValue, checkedPiece, isBodiless } from './answerHead.ts';
import type { Answer, Disconnection } from './exchange.ts';
import { REQUEST_BODY_BYTES_MAX } from './framing.ts';
import { INTERNAL_ERROR } from './refusals.ts';

/** Bytes copied and given to the socket at a time. */
const WRITE_BYTES_MAX = 65_536;

/**
 * Bytes written before other requests get their turn. A socket that never fills calls back without one: node:http tells
 * that it drained before the event loop looks at anything else.
 */
const TURN_BYTES = 1 << 20;

/** What all exchanges of one listener share. */
export interface NodeContext {
  isDraining: boolean;
  onError(error: unknown): void;
}

/** One exchange. `isAwaiting` while the handler has not answered; `hasEnded` once the whole answer was given to node:http. */
export class NodeExchange implements Disconnection {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #context: NodeContext;
  readonly #listeners: (() => void)[] = [];
  #isGone = false;
  #turnBytes = 0;
  isAwaiting = true;

  constructor(incoming: IncomingMessage, response: ServerResponse, context: NodeContext) {
    this.#incoming = incoming;
    this.#response = response;
    this.#context = context;
  }

  get hasEnded(): boolean {
    return this.#response.writableEnded;
  }

  isGone(): boolean {
    return this.#isGone;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#listeners.push(listener);
  }

  /** The connection ended before the answer was out: tells whoever listens, and nothing is sent any more. */
  leave(): void {
    this.#isGone = true;
    try {
      for (const listener of this.#listeners.splice(0)) listener();
    } catch (error) {
      this.#context.onError(error);
    }
  }

  /** Sends the answer; one that cannot be sent becomes a 500, or ends the connection where its head is out already. */
  send(answer: Answer): void {
    this.isAwaiting = false;
    if (this.#isGone) return;
    try {
      this.#begin(answer);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Sends the answer once it is there. `awaitsBody` first reads the request's body away, up to its limit. */
  async sendLater(answer: Answer | Promise<Answer>, awaitsBody: boolean): Promise<void> {
    const isTooLong = awaitsBody ? bodyPassesLimit(this.#incoming) : false;
    const ready = await this.#orFailure(answer);
    this.isAwaiting = false;
    this.send((await isTooLong) ? { ...ready, close: true } : ready);
  }

  #begin(answer: Answer): void {
    const { body } = answer;
    const hasBody = this.#incoming.method !== 'HEAD' && !isBodiless(answer.status) && body.bytes > 0;
    const lines = headerLines(answer, answer.close === true || this.#context.isDraining);
    const first = hasBody ? checkedPiece(body, 0) : undefined;
    // Nothing has been written above: what fails there can still become a 500.
    this.#response.writeHead(answer.status, lines);
    if (first) this.#push(body, first, 0);
    else this.#response.end();
  }

  #push(body: Body, first: Uint8Array, from: number): void {
    let piece = first;
    for (let offset = from; ;) {
      const copy = Buffer.from(piece.subarray(0, WRITE_BYTES_MAX));
      offset += copy.length;
      if (offset === body.bytes) return void this.#response.end(copy);
      this.#turnBytes += copy.length;
      if (!this.#response.write(copy)) return void this.#response.once('drain', () => this.#next(body, offset));
      piece = piece.length > copy.length ? piece.subarray(copy.length) : checkedPiece(body, offset);
    }
  }

  #next(body: Body, offset: number): void {
    if (this.#turnBytes < TURN_BYTES) return this.#resume(body, offset);
    this.#turnBytes = 0;
    setImmediate(() => this.#resume(body, offset));
  }

  #resume(body: Body, offset: number): void {
    if (this.#isGone) return;
    try {
      this.#push(body, checkedPiece(body, offset), offset);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#context.onError(error);
    if (this.#response.headersSent) this.#incoming.socket.destroy();
    else this.#begin(INTERNAL_ERROR);
  }

  async #orFailure(answer: Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      this.#context.onError(error);
      return INTERNAL_ERROR;
    }
  }
}

/** Names and values in turn, checked, as node:http takes them for lines written as they are. */
function headerLines(answer: Answer, announcesClose: boolean): string[] {
  const lines: string[] = [];
  for (const [name, value] of answer.headers) {
    assertHeaderValue(name, value);
    // node:http writes one byte a character; uWebSockets.js writes UTF-8.
    lines.push(name, Buffer.from(value, 'utf8').toString('latin1'));
  }
  if (announcesClose) lines.push('Connection', 'close');
  if (!isBodiless(answer.status)) lines.push('Content-Length', String(answer.body.bytes));
  return lines;
}

/** Resolves when the body has been read away, with whether it is longer than is worth reading; never if the client leaves. */
function bodyPassesLimit(incoming: IncomingMessage): Promise<boolean> {
  let bytes = 0;
  return new Promise((resolve) => {
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > REQUEST_BODY_BYTES_MAX) resolve(true);
    });
    incoming.once('end', () => resolve(bytes > REQUEST_BODY_BYTES_MAX));
  });
}

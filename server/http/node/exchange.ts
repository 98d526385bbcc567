// One exchange over node:http, with the same behaviour as over uWebSockets.js, so that handlers see no difference.
// Buffers at most one piece of WRITE_BYTES_MAX per response. Pieces are copied, because node:http keeps references to
// them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  assertHeaderValue,
  checkedPiece,
  type Framing,
  type Head,
  isBodiless,
  isHost,
  MALFORMED_REQUEST,
} from '../framing.ts';
import {
  type ConnectionBodies,
  type LiveContext,
  LiveExchange,
  LiveRequest,
  SHORT_BODY_BYTES,
  type TakePiece,
} from '../liveExchange.ts';
import type { Body } from '../../../engine/engine.ts';
import type { Step } from '../../../workers/slices.ts';
import type { Answer } from '../exchange.ts';

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/** Removes scheme and authority from an absolute-form target. The authority then replaces Host (RFC 9112, 3.2.2). */
export class NodeRequest extends LiveRequest<IncomingMessage> {
  readonly #authority: string | undefined;

  constructor(incoming: IncomingMessage) {
    const url = incoming.url ?? '';
    const authority = ABSOLUTE_FORM.exec(url);
    super(incoming, readHead(incoming, url.slice(authority?.[0].length ?? 0)));
    this.#authority = authority?.[1];
  }

  override header(name: string): string | undefined {
    return name === 'host' && this.#authority !== undefined ? this.#authority : super.header(name);
  }

  peer(): string {
    return (this.alive().socket.remoteAddress ?? '').replace(/^::ffff:(?=[0-9.]+$)/, '');
  }

  override framing(): Framing {
    return this.#authority === undefined || isHost(this.#authority) ? super.framing() : 'malformed';
  }
}

function readHead({ method = '', httpVersion, rawHeaders }: IncomingMessage, origin: string): Head {
  const mark = origin.indexOf('?');
  return {
    method,
    target: (mark < 0 ? origin : origin.slice(0, mark)) || '/',
    query: mark < 0 ? undefined : origin.slice(mark + 1),
    lines: rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text)),
    isOld: httpVersion === '1.0',
  };
}

const WRITE_BYTES_MAX = 65_536;

/** Bytes written before other work gets its turn: node:http emits `drain` before the event loop does anything else. */
const TURN_BYTES = 1 << 20;
const NOTHING = new Uint8Array(0);

/** The exchanges of one connection in the order of their requests. */
export interface NodeConnection extends ConnectionBodies {
  readonly open: Set<NodeExchange>;
}

/**
 * One exchange. A response waits until the earlier ones of its connection are sent. Otherwise node:http would buffer
 * the first bytes of all pipelined responses.
 */
export class NodeExchange extends LiveExchange {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #context: LiveContext;
  #turnBytes = 0;
  #isNext: boolean;
  #ready: Answer | undefined;
  #step: Step | undefined;
  /** The handler has not returned a response yet. */
  isAwaiting = true;

  /** If earlier responses of the connection are unfinished, `takeTurn` is called when they are sent. */
  constructor(incoming: IncomingMessage, response: ServerResponse, context: LiveContext, connection: NodeConnection) {
    super(context, connection);
    this.#isNext = connection.open.size === 0;
    this.#incoming = incoming;
    this.#response = response;
    this.#context = context;
  }

  /** Pipelined requests are handled before the responses to earlier ones are sent. */
  get connection(): object {
    return this.#incoming.socket;
  }

  /** The whole response has been given to node:http. */
  get hasEnded(): boolean {
    return this.#response.writableEnded;
  }

  /** Whether the request is still being received and nothing of its response has been sent. */
  get isReceiving(): boolean {
    return !this.#incoming.complete && !this.#response.headersSent;
  }

  leave(): void {
    if (this.#step) this.#context.slices.drop(this.#step);
    this.depart();
  }

  override send(answer: Answer): void {
    this.isAwaiting = false;
    if (this.#isNext) this.#start(answer);
    else this.#ready = answer;
  }

  /** All earlier responses are sent. */
  takeTurn(): void {
    this.#isNext = true;
    if (this.#ready) this.#start(this.#ready);
  }

  /**
   * Starts a long body if the turn has time for it. A slow one, which may have been measured in this turn, starts in
   * another.
   */
  #start(answer: Answer): void {
    const { bytes, isSlow } = answer.body;
    const isShort = bytes <= SHORT_BODY_BYTES || this.#incoming.method === 'HEAD';
    if (isShort || (!isSlow && this.#context.slices.hasTime())) super.send(answer);
    else this.#continueLater(() => super.send(answer));
  }

  protected async sendLater(answer: Answer | Promise<Answer>, bodyBytesMax?: number): Promise<void> {
    const isTooLong = bodyBytesMax === undefined ? false : this.bodyPasses(bodyBytesMax);
    const ready = await this.failureOnError(answer);
    this.isAwaiting = false;
    if (!(await isTooLong)) this.send(ready);
    else this.send(bodyBytesMax === 0 ? MALFORMED_REQUEST : { ...ready, close: true });
  }

  protected readBody(takePiece: TakePiece): void {
    this.#incoming.on('data', (piece: Buffer) => takePiece(piece, false));
    this.#incoming.once('end', () => takePiece(NOTHING, true));
  }

  protected begin(answer: Answer): void {
    const { body } = answer;
    const hasBody = this.#incoming.method !== 'HEAD' && !isBodiless(answer.status) && body.bytes > 0;
    const lines = headerLines(answer, answer.close === true || this.#context.isDraining);
    if (this.requestId !== undefined) lines.push('X-Request-Id', this.requestId);
    const sinceMs = this.#context.slices.now();
    const first = hasBody ? checkedPiece(body, 0) : undefined;
    // Nothing has been written before this line, so an error can still become a 500.
    this.#response.writeHead(answer.status, lines);
    this.tell(answer);
    if (first) this.#push(body, { first, from: 0, sinceMs });
    else this.#response.end();
  }

  /**
   * Writes from the offset `from`, where `first` begins, until the body ends, the socket is full or the turn is over.
   */
  #push(body: Body, { first, from, sinceMs }: { first: Uint8Array; from: number; sinceMs: number }): void {
    const { slices } = this.#context;
    let piece = first;
    for (let offset = from; ;) {
      const copy = Buffer.from(piece.subarray(0, WRITE_BYTES_MAX));
      offset += copy.length;
      if (offset === body.bytes) {
        this.#response.end(copy);
        if (body.bytes > SHORT_BODY_BYTES) slices.spend(sinceMs);
        return;
      }
      this.#turnBytes += copy.length;
      if (!this.#response.write(copy)) {
        this.#response.once('drain', () => this.#next(body, offset));
        return slices.spend(sinceMs);
      }
      if (body.isSlow && slices.isUp(sinceMs)) {
        this.#continueLater(() => this.#resume(body, offset));
        return slices.spend(sinceMs);
      }
      piece = piece.length > copy.length ? piece.subarray(copy.length) : checkedPiece(body, offset);
    }
  }

  #next(body: Body, offset: number): void {
    const isShort = !body.isSlow && this.#turnBytes < TURN_BYTES;
    if (isShort && this.#context.slices.hasTime()) return this.#resume(body, offset);
    this.#turnBytes = 0;
    this.#continueLater(() => this.#resume(body, offset));
  }

  #continueLater(goOn: () => void): void {
    this.#step = () => {
      this.#step = undefined;
      goOn();
      return false;
    };
    this.#context.slices.queue(this.#step);
  }

  #resume(body: Body, offset: number): void {
    if (this.isGone()) return;
    try {
      const sinceMs = this.#context.slices.now();
      this.#push(body, { first: checkedPiece(body, offset), from: offset, sinceMs });
    } catch (error) {
      this.fail(error);
    }
  }

  protected hasBegun(): boolean {
    return this.#response.headersSent;
  }

  cut(): void {
    this.#incoming.socket.destroy();
  }
}

/** Checked names and values, alternating, as node:http accepts them for unmodified lines. */
function headerLines(answer: Answer, announcesClose: boolean): string[] {
  const lines: string[] = [];
  const { etag, totalCount } = answer;
  const tag = etag === undefined ? [] : [['ETag', etag] as const];
  const count = totalCount === undefined ? [] : [['X-Total-Count', String(totalCount)] as const];
  for (const [name, value] of [...answer.headers, ...tag, ...count]) {
    assertHeaderValue(name, value);
    // node:http writes one byte per character; uWebSockets.js writes UTF-8.
    lines.push(name, Buffer.from(value, 'utf8').toString('latin1'));
  }
  if (announcesClose) lines.push('Connection', 'close');
  if (!isBodiless(answer.status)) lines.push('Content-Length', String(answer.body.bytes));
  return lines;
}

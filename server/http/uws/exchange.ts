// One exchange over uWebSockets.js. The request is copied; the header lines of responses are checked and cached.
// Without that cache a record costs 1.50 times the instructions, a page with one record 1.24, getTrustedHostInfo 1.10.
// Bodies are never chunked and no page is buffered: bytes that the socket does not take are read from the body again.
import {
  hasCloseToken,
  assertHeaderValue,
  checkedPiece,
  dateNow,
  type Framing,
  type Head,
  isBodiless,
  MALFORMED_REQUEST,
  statusText,
} from '../framing.ts';
import { type LiveContext, LiveExchange, LiveRequest, SHORT_BODY_BYTES, type TakePiece } from '../liveExchange.ts';
import type { HttpRequest, HttpResponse } from './library.ts';
import type { Answer } from '../exchange.ts';
import type { Body } from '../../../engine/engine.ts';
import type { Step } from '../../../workers/slices.ts';

/**
 * The part that closes the connection after the response. The library does so if the first Connection header has five
 * letters, which it takes for `close`. This file does so for all other forms, such as `TE, close`.
 */
type Closing = 'library' | 'us' | 'nobody';

/** The library interprets any value of this length as `close`. */
const CLOSE_LETTERS = 'close'.length;

/**
 * One request. Cost: three strings, and two per header line, 0.1 us. Looking up a header is then almost free; in the
 * library it takes 0.06 us. `firstLine` returns only the first line of a name, and none for an empty value.
 */
export class UwsRequest extends LiveRequest<HttpRequest> {
  readonly #response: HttpResponse;

  constructor(request: HttpRequest, response: HttpResponse) {
    super(request, readHead(request));
    this.#response = response;
  }

  peer(): string {
    this.alive();
    return addressText(this.#response);
  }

  closing(): Closing {
    const first = this.firstLine('connection');
    if (first === undefined) return 'nobody';
    if (first.length === CLOSE_LETTERS) return 'library';
    return hasCloseToken(this.header('connection') ?? '') ? 'us' : 'nobody';
  }
}

function readHead(request: HttpRequest): Head {
  return {
    // Not getMethod(): it lower-cases the request's bytes, and methods are case-sensitive (RFC 9110, 9.1).
    method: request.getCaseSensitiveMethod(),
    target: request.getUrl(),
    // Undefined without a `?`, despite the declared type.
    query: request.getQuery(),
    lines: readLines(request),
    isOld: false,
  };
}

/** The lines collected by `walk`. A variable saves a closure per request. */
let walked: string[] = [];

function readLines(request: HttpRequest): readonly string[] {
  walked = [];
  request.forEach(walk);
  return walked;
}

function walk(name: string, value: string): void {
  walked.push(name, value);
}

const MAPPED_PREFIX = '00000000000000000000ffff';

/** The peer's address. An IPv4 peer of an IPv6 socket has the dotted form, as on node:http. */
function addressText(response: HttpResponse): string {
  const bytes = Buffer.from(response.getRemoteAddress());
  if (bytes.length === 16 && bytes.toString('hex', 0, 12) !== MAPPED_PREFIX) {
    return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
  }
  return bytes.subarray(-4).join('.');
}

/** Cached header arrays: the few that never change, and some that are made for one response. */
const REMEMBERED = 4;

/**
 * Converts header arrays to blocks. Handlers share one array for most responses, so the last few are recognised by
 * identity. An array must not change after its first use.
 */
export class HeaderBlocks {
  readonly #lists: Answer['headers'][] = [];
  readonly #blocks: (HeaderBlock | undefined)[] = [];
  #next = 0;

  /** The block of an array; undefined for an empty one. Throws if a value would leave its line. */
  of(headers: Answer['headers']): HeaderBlock | undefined {
    for (let i = 0; i < this.#lists.length; i++) if (this.#lists[i] === headers) return this.#blocks[i];
    const block = headers.length === 0 ? undefined : new HeaderBlock(headers);
    this.#lists[this.#next] = headers;
    this.#blocks[this.#next] = block;
    this.#next = (this.#next + 1) % REMEMBERED;
    return block;
  }
}

const ETAG = '\r\nETag: ';
const TOTAL_COUNT = '\r\nX-Total-Count: ';
const BLANK = 0x20;
const DELETE = 0x7f;

/**
 * All header lines as bytes: the first name, and its value followed by the other lines, separated by CR LF. Bytes,
 * because the library encodes and copies every string. The variable parts are written in place after the lines, so the
 * result of `addTag` is valid until the next call.
 */
class HeaderBlock {
  readonly name: Uint8Array;
  readonly lines: Uint8Array;
  /** Indexed by the number of digits of the count. */
  readonly #tagged: (Uint8Array | undefined)[] = [];

  /** Throws if a value would leave its line. */
  constructor(headers: Answer['headers']) {
    const lines = headers.map(([name, value], i) => {
      assertHeaderValue(name, value);
      return i === 0 ? value : `${name}: ${value}`;
    });
    this.name = Buffer.from(headers[0]![0]);
    this.lines = Buffer.from(lines.join('\r\n'));
  }

  /** Adds an entity tag, including quotes, and the count of a list. Throws if the tag would leave its line. */
  addTag(etag: string, totalCount: number | undefined): Uint8Array {
    const digits = totalCount === undefined ? '' : String(totalCount);
    const tagged = this.#roomFor(etag.length, digits.length);
    const tagAt = this.lines.length + ETAG.length;
    for (let i = 0; i < etag.length; i++) {
      const unit = etag.charCodeAt(i);
      if (unit < BLANK || unit >= DELETE) return this.#unusual(etag, digits);
      tagged[tagAt + i] = unit;
    }
    const digitsAt = tagged.length - digits.length;
    for (let i = 0; i < digits.length; i++) tagged[digitsAt + i] = digits.charCodeAt(i);
    return tagged;
  }

  /**
   * Everything except tag and digits, with space for these. Returns the same bytes for the same lengths, which are few.
   */
  #roomFor(tagLength: number, digits: number): Uint8Array {
    const bytes = this.lines.length + ETAG.length + tagLength + (digits === 0 ? 0 : TOTAL_COUNT.length + digits);
    const known = this.#tagged[digits];
    if (known?.length === bytes) return known;
    const count = digits === 0 ? '' : TOTAL_COUNT + ' '.repeat(digits);
    return (this.#tagged[digits] = Buffer.concat([this.lines, Buffer.from(ETAG + ' '.repeat(tagLength) + count)]));
  }

  #unusual(etag: string, digits: string): Uint8Array {
    assertHeaderValue('ETag', etag);
    return Buffer.concat([this.lines, Buffer.from(ETAG + etag + (digits === '' ? '' : TOTAL_COUNT + digits))]);
  }
}

// How tryEnd(piece, total) counts (measured on uws-pack 20.0.8):
//   first call     writes `Content-Length: total` and ends the head
//   each call      appends the piece; returns [all of it taken, response complete]; the second can be true while the
//                  first is false
//   not all taken  the socket is full: getWriteOffset() says how many body bytes it has, and onWritable gets the same
//                  number
//   complete       the response object is dead: every further call on it throws
// A Linux socket takes about 4 MB before it is full (tcp_wmem). Until a response on a full socket is complete, a
// request pipelined after it makes the library close the connection: visible to the client by Content-Length, never
// wrong bytes.

export interface UwsContext extends LiveContext {
  readonly headerBlocks: HeaderBlocks;
}

/** The library collects up to this many bytes of a response before it writes. Longer writes are sent at once. */
const CORK_BYTES = 16_384;
const NOTHING = new Uint8Array(0);
/**
 * Bodies in one piece of up to this size are passed as a whole, with their head in the library's buffer. That saves the
 * pair of booleans that a partial write returns, 0.2 us. For longer ones the library would buffer what a full socket
 * leaves.
 */
const WHOLE_BYTES_MAX = CORK_BYTES / 2;
/**
 * How much of a response is written before other requests get their turn, if the client reads so fast that the socket
 * never fills. First as much as a socket takes, because a request pipelined after an unfinished response ends the
 * connection; beyond TURN_BYTES only within the time slice. Then TURN_BYTES at a time, alternating with other sliced
 * work.
 */
const FIRST_TURN_BYTES = 4 << 20;
const TURN_BYTES = 1 << 20;

/** One write. */
interface Writing {
  readonly piece: Uint8Array;
  readonly offset: number;
  /** Limit of bytes in this turn. */
  readonly turnBytes: number;
  /** When this turn's work on the body began. */
  readonly sinceMs: number;
}

/** One exchange. A response that is ready at once and fits the socket costs this object, no closure and no timer. */
export class UwsExchange extends LiveExchange {
  readonly #response: HttpResponse;
  readonly #isHead: boolean;
  readonly #closing: Closing;
  readonly #context: UwsContext;
  #isHeld = false;
  #isLate = false;
  #turn: 'unread' | 'same' | 'later' = 'unread';
  #hasBegun = false;
  #isWaiting = false;
  #extraBytes = 0;
  #step: Step | undefined;

  constructor(response: HttpResponse, request: UwsRequest, context: UwsContext) {
    super(context);
    this.#response = response;
    this.#isHead = request.method === 'HEAD';
    this.#closing = request.closing();
    this.#context = context;
  }

  protected async sendLater(answer: Answer | Promise<Answer>, bodyBytesMax?: number): Promise<void> {
    this.#hold();
    this.#noteTurn();
    const isTooLong = bodyBytesMax === undefined ? false : this.bodyPasses(bodyBytesMax);
    const ready = await this.failureOnError(answer);
    const closes = await isTooLong;
    if (this.isGone()) return;
    this.#response.cork(() => {
      if (closes && bodyBytesMax === 0) this.refuse();
      else this.send(closes ? { ...ready, close: true } : ready);
    });
  }

  /** Handles the request in a later turn, because pipelined requests have used up this one. */
  answerLater(request: UwsRequest, framing: Framing): void {
    if (framing === 'none') return this.#continueLater(() => this.answer(request, framing));
    this.#isLate = true;
    this.answer(request, framing);
  }

  protected readBody(takePiece: TakePiece): void {
    this.#hold();
    this.#response.onData((piece, isLast) => {
      if (!isLast || !this.#isLate) return takePiece(new Uint8Array(piece), isLast);
      const last = new Uint8Array(piece).slice();
      this.#continueLater(() => takePiece(last, true));
    });
  }

  /**
   * Sends 400 and closes at once, so that no data after a malformed request is taken for another one. The library would
   * continue with data that it has already read, and close() drops what it still buffers. Blanks after the JSON make
   * the response too long for the buffer. A response to HEAD cannot be padded and closes only after the read data was
   * processed.
   */
  refuse(): void {
    const { requestId } = this;
    this.tell(MALFORMED_REQUEST);
    const response = this.#response;
    response.writeStatus(statusText(MALFORMED_REQUEST.status));
    if (requestId !== undefined) response.writeHeader('X-Request-Id', requestId);
    response.writeHeader('Date', dateNow());
    response.writeHeader('Connection', this.#isHead ? REFUSAL_HEAD : REFUSAL);
    if (this.#isHead) this.#closeLater();
    else response.close();
  }

  /** Closes once the library has looked at the bytes that it has read, and has written what it collects. */
  #closeLater(): void {
    this.#hold();
    setImmediate(() => {
      if (!this.isGone()) this.#response.close();
    });
  }

  /**
   * A long body starts if the turn has time for it. An ordinary one also starts if the response was not delayed so far.
   * A slow one that was delayed has been measured in this turn and starts in another.
   */
  override send(answer: Answer): void {
    const { bytes, isSlow } = answer.body;
    const mostBytes = this.#isHeld ? SHORT_BODY_BYTES : TURN_BYTES;
    const hasTime = !(this.#isHeld && isSlow) && this.#context.slices.hasTime();
    if (this.#isHead || bytes <= mostBytes || hasTime) super.send(answer);
    else this.#continueLater(() => super.send(answer));
  }

  protected begin(answer: Answer): void {
    const { body } = answer;
    const hasBody = !this.#isHead && !isBodiless(answer.status);
    const closes = answer.close === true || this.#closing !== 'nobody';
    const { etag, totalCount } = answer;
    const block = this.#context.headerBlocks.of(answer.headers);
    const lines = etag === undefined ? block?.lines : block?.addTag(etag, totalCount);
    const tagAlone = block || etag === undefined ? undefined : new HeaderBlock([['ETag', etag]]);
    const sinceMs = body.isSlow ? this.#context.slices.now() : undefined;
    const first = hasBody && body.bytes > 0 ? checkedPiece(body, 0) : NOTHING;
    const isWhole = hasBody && first.length === body.bytes && first.length <= WHOLE_BYTES_MAX;
    // The library announces the end of the connection with a short body, unless it has seen `close` in the request.
    const closesHere = closes && this.#closing !== 'library';
    const isLeft = isWhole && closesHere;
    const announcesClose = (closes || this.#context.isDraining) && !(closesHere && (isWhole || !hasBody));
    // Nothing has been written above: what fails there can still become a 500.
    this.#hasBegun = true;
    const { requestId } = this;
    this.tell(answer);
    const response = this.#response;
    // The library writes status 200 by default.
    if (answer.status !== 200) response.writeStatus(statusText(answer.status));
    if (announcesClose) response.writeHeader('Connection', 'close');
    if (requestId !== undefined) response.writeHeader('X-Request-Id', requestId);
    if (block && lines) response.writeHeader(block.name, lines);
    else if (tagAlone) response.writeHeader(tagAlone.name, tagAlone.lines);
    if (!hasBody) this.#endWithoutBody(answer, closesHere);
    else if (isWhole) this.#end(first, isLeft);
    else {
      const turnBytes = this.#isHeld ? TURN_BYTES : FIRST_TURN_BYTES;
      if (closesHere) this.#keepIncomplete(body);
      this.#push(answer, { piece: first, offset: 0, turnBytes, sinceMs: sinceMs ?? this.#context.slices.now() });
    }
  }

  #endWithoutBody(answer: Answer, closesHere: boolean): void {
    if (!isBodiless(answer.status)) this.#response.writeHeader('Content-Length', String(answer.body.bytes));
    if (closesHere) {
      this.#response.writeHeader('Date', dateNow());
      this.#response.writeHeader('Connection', LAST_HEADER);
      return this.#closeLater();
    }
    // Without an argument: with one the connection breaks, or the process ends.
    this.#response.endWithoutBody();
    this.#settle();
  }

  #end(whole: Uint8Array, isLeft: boolean): void {
    this.#response.end(whole, isLeft);
    this.#settle();
  }

  /**
   * Announces the length of the body. The library is given one byte more from here on, so that it never completes the
   * response and `close()` still works.
   */
  #keepIncomplete(body: Body): void {
    this.#response.tryEnd(NOTHING, body.bytes);
    this.#extraBytes = 1;
  }

  /** Closes as soon as the socket has the whole body. An empty piece is refused while the library still holds bytes. */
  #closeWhenWritten(answer: Answer): void {
    this.#hold();
    setImmediate(() => {
      if (this.isGone()) return;
      this.#response.cork(() => {
        const [isWritten] = this.#response.tryEnd(NOTHING, answer.body.bytes + this.#extraBytes);
        if (isWritten) this.#response.close();
        else this.#wait(answer);
      });
    });
  }

  /** Writes from `offset`, where `piece` begins, until the body ends, the socket is full or the turn is over. */
  #push(answer: Answer, { piece, offset: start, turnBytes, sinceMs }: Writing): void {
    const { body } = answer;
    const totalBytes = body.bytes + this.#extraBytes;
    const { slices } = this.#context;
    let offset = start;
    const turnEnd = offset + turnBytes;
    const leastEnd = body.isSlow ? offset : offset + TURN_BYTES;
    for (let next = piece; ; next = checkedPiece(body, offset)) {
      const part = next.length > turnEnd - offset ? next.subarray(0, turnEnd - offset) : next;
      const [isTaken, isDone] = this.#response.tryEnd(part, totalBytes);
      offset += part.length;
      if (isDone) this.#settle();
      else if (!isTaken) this.#wait(answer);
      else if (offset === body.bytes) this.#closeWhenWritten(answer);
      else if (offset === turnEnd || (offset >= leastEnd && slices.isUp(sinceMs))) this.#yield(answer, offset);
      else continue;
      return slices.spend(sinceMs);
    }
  }

  /** Continues in a later turn. The socket took everything so far, so no other callback comes before. */
  #yield(answer: Answer, offset: number): void {
    this.#continueLater(() => this.#resume(answer, offset));
  }

  #wait(answer: Answer): void {
    this.#hold();
    this.#noteTurn();
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#response.onWritable((offset) => {
      // The queued step continues by itself; two would write the same bytes.
      if (!this.#step) this.#yield(answer, offset);
      // False: nothing was written in this callback.
      return false;
    });
  }

  #continueLater(goOn: () => void): void {
    this.#hold();
    this.#noteTurn();
    this.#step = () => {
      this.#step = undefined;
      this.#response.cork(goOn);
      return false;
    };
    this.#context.slices.queue(this.#step);
  }

  #resume(answer: Answer, offset: number): void {
    if (offset === answer.body.bytes) return this.#closeWhenWritten(answer);
    try {
      const sinceMs = this.#context.slices.now();
      this.#push(answer, { piece: checkedPiece(answer.body, offset), offset, turnBytes: TURN_BYTES, sinceMs });
    } catch (error) {
      this.fail(error);
    }
  }

  protected hasBegun(): boolean {
    return this.#hasBegun;
  }

  cut(): void {
    this.#response.close();
  }

  /** The response outlives the handler: from now on the library must report a disconnecting client. */
  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#context.flight.enter(this);
    this.#response.onAborted(() => this.#leave());
  }

  /**
   * The request is read and its response comes later. If the connection ends in the same turn, the cause is not the
   * client but a pipelined request. Not called while a body is awaited: no request can follow it yet.
   */
  #noteTurn(): void {
    if (this.#turn !== 'unread') return;
    this.#turn = 'same';
    setImmediate(() => (this.#turn = 'later'));
  }

  #leave(): void {
    if (this.#step) this.#context.slices.drop(this.#step);
    this.#settle();
    this.depart(this.#turn === 'same');
  }

  #settle(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#context.flight.leave(this);
  }
}

// The library ends the value of a header with a line break. It ends the head of a response without a body; otherwise it
// is the last 2 bytes of the body.
const REFUSAL_TEXT = Buffer.from(MALFORMED_REQUEST.body.pieceAt(0)).toString().padEnd(CORK_BYTES);
const LAST_HEADER = 'close\r\n';
const REFUSAL_HEAD = `close\r\nContent-Type: application/json\r\nContent-Length: ${REFUSAL_TEXT.length + 2}\r\n`;
const REFUSAL = `${REFUSAL_HEAD}\r\n${REFUSAL_TEXT}`;

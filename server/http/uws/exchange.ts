// One exchange over uWebSockets.js: the request is copied, and the header lines of a response are checked and
// remembered. Without that memory a record costs 1.50 times the instructions, a page of one 1.24, getTrustedHostInfo
// 1.10. Bodies are never chunked and no page is buffered: bytes that the socket does not take are read from the body
// again.
import {
  asksClose,
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
import type { Step } from '../../../workers/slices.ts';

/** Who closes: the library takes every first value of five letters for `close`, we do so for other forms. */
type Closing = 'library' | 'us' | 'nobody';

/** What the library takes for `close`, whatever it says. */
const CLOSE_LETTERS = 'close'.length;

/**
 * One request. Cost: three strings, and two for each header line, 0.1 us; then a header is nearly for nothing, where
 * the library's own look-up takes 0.06 us. It gives the first line of a name only, and none for an empty value.
 */
export class UwsRequest extends LiveRequest<HttpRequest> {
  readonly #response: HttpResponse;

  constructor(request: HttpRequest, response: HttpResponse) {
    super(request, headOf(request));
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
    return asksClose(this.header('connection') ?? '') ? 'us' : 'nobody';
  }
}

function headOf(request: HttpRequest): Head {
  return {
    // Never getMethod(): it lower-cases the request's own bytes, and methods are case-sensitive (RFC 9110, 9.1).
    method: request.getCaseSensitiveMethod(),
    target: request.getUrl(),
    // Undefined without a `?`, whatever the declared type says.
    query: request.getQuery(),
    lines: linesOf(request),
    isOld: false,
  };
}

/** The lines being walked over: no closure is made for a request. */
let walked: string[] = [];

function linesOf(request: HttpRequest): readonly string[] {
  walked = [];
  request.forEach(walk);
  return walked;
}

function walk(name: string, value: string): void {
  walked.push(name, value);
}

const MAPPED_PREFIX = '00000000000000000000ffff';

/** The peer's address; an IPv4 peer of an IPv6 socket in dotted form, as elsewhere. */
function addressText(response: HttpResponse): string {
  const bytes = Buffer.from(response.getRemoteAddress());
  if (bytes.length === 16 && bytes.toString('hex', 0, 12) !== MAPPED_PREFIX) {
    return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
  }
  return bytes.subarray(-4).join('.');
}

/** How many header lists are remembered: the few that never change, with room for some made for one answer. */
const REMEMBERED = 4;

/**
 * Turns header lists into blocks. Handlers use the same list for most answers, so the last few are known again by
 * identity. A list must not be changed once it was used.
 */
export class HeaderBlocks {
  readonly #lists: Answer['headers'][] = [];
  readonly #blocks: (HeaderBlock | undefined)[] = [];
  #next = 0;

  /** The block of a list, undefined of an empty one. Throws where a value would leave its line. */
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
 * All header lines: the first one's name, and its value followed by the other lines, with CR LF between them. As bytes,
 * since the library encodes and copies each text that it is given. What differs from answer to answer is written behind
 * the lines where it stands last: what `taggedWith` answers holds until the next call.
 */
class HeaderBlock {
  readonly name: Uint8Array;
  readonly lines: Uint8Array;
  /** By the digits of the count. */
  readonly #tagged: (Uint8Array | undefined)[] = [];

  /** Throws where a value would leave its line. */
  constructor(headers: Answer['headers']) {
    const lines = headers.map(([name, value], i) => {
      assertHeaderValue(name, value);
      return i === 0 ? value : `${name}: ${value}`;
    });
    this.name = Buffer.from(headers[0]![0]);
    this.lines = Buffer.from(lines.join('\r\n'));
  }

  /** With an entity tag, quotes included, and the count of a list. Throws if the tag would leave its line. */
  taggedWith(etag: string, totalCount: number | undefined): Uint8Array {
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

  /** Everything but tag and digits, with room for these; the same bytes for the same lengths, which are few. */
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
//   each call      appends the piece; answers [all of it taken, answer complete]; complete can be true while taken is
//                  not
//   not all taken  the socket is full: getWriteOffset() says how many body bytes it has, and onWritable gets the same
//                  number
//   complete       the response object is dead: every further call on it throws
// A socket of Linux takes about 4 MB before it is full (tcp_wmem). Until a full one is complete, a request pipelined
// behind makes the library close the connection: visible to the client by Content-Length, never wrong bytes.

export interface UwsContext extends LiveContext {
  readonly headerBlocks: HeaderBlocks;
}

/** The library collects up to this many bytes of an answer before it writes; a longer write goes out at once. */
const CORK_BYTES = 16_384;
const NOTHING = new Uint8Array(0);
/**
 * Bodies in one piece of up to so many bytes are given away whole, which saves the two truths that a call for a part
 * answers, 0.2 us: they lie in what the library collects, with their head. Of longer ones it would keep what a full
 * socket leaves.
 */
const WHOLE_BYTES_MAX = CORK_BYTES / 2;
/**
 * How much of an answer is written before other requests get their turn, where its reader is so fast that its socket
 * never fills: at first what a socket takes at once, since a request pipelined behind an answer that waits ends the
 * connection, but beyond the lesser part only within the time for that; then less, in turn with other sliced work.
 */
const FIRST_TURN_BYTES = 4 << 20;
const TURN_BYTES = 1 << 20;

/** What is written in a turn: from where, how much at most, and since when the turn is taken for it. */
interface Writing {
  readonly piece: Uint8Array;
  readonly offset: number;
  readonly turnBytes: number;
  readonly sinceMs: number;
}

/** One exchange. Cost for an answer that is ready at once and fits the socket: this object, no closure, no timer. */
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
  #step: Step | undefined;

  constructor(response: HttpResponse, request: UwsRequest, context: UwsContext) {
    super(context);
    this.#response = response;
    this.#isHead = request.method === 'HEAD';
    this.#closing = request.closing();
    this.#context = context;
  }

  protected async sendLater(answer: Answer | Promise<Answer>, awaitsBody: boolean): Promise<void> {
    this.#hold();
    this.#noteTurn();
    const isTooLong = awaitsBody ? this.bodyPassesLimit() : false;
    const ready = await this.orFailure(answer);
    const closes = await isTooLong;
    if (this.isGone()) return;
    this.#response.cork(() => this.send(closes ? { ...ready, close: true } : ready));
  }

  /** Answers in a later turn, since pipelined requests have used up this one. */
  answerLater(request: UwsRequest, framing: Framing): void {
    if (framing === 'none') return this.#goOnLater(() => this.answer(request, framing));
    this.#isLate = true;
    this.answer(request, framing);
  }

  protected readBody(takePiece: TakePiece): void {
    this.#hold();
    this.#response.onData((piece, isLast) => {
      if (!isLast || !this.#isLate) return takePiece(new Uint8Array(piece), isLast);
      const last = new Uint8Array(piece).slice();
      this.#goOnLater(() => takePiece(last, true));
    });
  }

  /**
   * Answers 400 and closes at once, so that nothing behind a malformed request is taken for another one. The library
   * would go on with what it has read already, and close() drops what it still collects; blanks behind the JSON make
   * the answer too long to collect. An answer to HEAD cannot be filled up and closes after the read bytes were looked
   * at.
   */
  refuse(): void {
    const { requestId } = this;
    this.tell(MALFORMED_REQUEST);
    const response = this.#response;
    response.writeStatus(statusText(MALFORMED_REQUEST.status));
    if (requestId !== undefined) response.writeHeader('X-Request-Id', requestId);
    response.writeHeader('Date', dateNow());
    response.writeHeader('Connection', this.#isHead ? REFUSAL_HEAD : REFUSAL);
    if (!this.#isHead) return void response.close();
    this.#hold();
    setImmediate(() => {
      if (!this.isGone()) response.close();
    });
  }

  /**
   * A long body begins where the turn has time for it, or an ordinary one that nothing kept waiting so far. A slow one
   * that waited was measured in this turn, and begins in another.
   */
  override send(answer: Answer): void {
    const { bytes, isSlow } = answer.body;
    const mostBytes = this.#isHeld ? SHORT_BODY_BYTES : TURN_BYTES;
    const hasTime = !(this.#isHeld && isSlow) && this.#context.slices.hasTime();
    if (this.#isHead || bytes <= mostBytes || hasTime) super.send(answer);
    else this.#goOnLater(() => super.send(answer));
  }

  protected begin(answer: Answer): void {
    const { body } = answer;
    const hasBody = !this.#isHead && !isBodiless(answer.status);
    const closes = answer.close === true || this.#closing !== 'nobody';
    const { etag, totalCount } = answer;
    const block = this.#context.headerBlocks.of(answer.headers);
    const lines = etag === undefined ? block?.lines : block?.taggedWith(etag, totalCount);
    const tagAlone = block || etag === undefined ? undefined : new HeaderBlock([['ETag', etag]]);
    const sinceMs = body.isSlow ? this.#context.slices.now() : undefined;
    const first = hasBody && body.bytes > 0 ? checkedPiece(body, 0) : NOTHING;
    const isWhole = hasBody && first.length === body.bytes && first.length <= WHOLE_BYTES_MAX;
    // Of what is sent whole the library says that it closes, unless the request said so, as far as it has seen that.
    const isLeft = isWhole && closes && this.#closing !== 'library';
    const announcesClose = !isLeft && (closes || this.#context.isDraining);
    // Nothing has been written above: what fails there can still become a 500.
    this.#hasBegun = true;
    const { requestId } = this;
    this.tell(answer);
    const response = this.#response;
    // The library writes 200 by itself.
    if (answer.status !== 200) response.writeStatus(statusText(answer.status));
    if (announcesClose) response.writeHeader('Connection', 'close');
    if (requestId !== undefined) response.writeHeader('X-Request-Id', requestId);
    if (block && lines) response.writeHeader(block.name, lines);
    else if (tagAlone) response.writeHeader(tagAlone.name, tagAlone.lines);
    if (!hasBody) this.#endWithoutBody(answer);
    else if (isWhole) this.#end(first, isLeft);
    else {
      const turnBytes = this.#isHeld ? TURN_BYTES : FIRST_TURN_BYTES;
      this.#push(answer, { piece: first, offset: 0, turnBytes, sinceMs: sinceMs ?? this.#context.slices.now() });
    }
  }

  #endWithoutBody(answer: Answer): void {
    if (!isBodiless(answer.status) && !answer.isUnmeasured)
      this.#response.writeHeader('Content-Length', String(answer.body.bytes));
    // Without an argument: with one the connection breaks, or the process ends.
    this.#response.endWithoutBody();
    this.#settle();
  }

  #end(whole: Uint8Array, isLeft: boolean): void {
    this.#response.end(whole, isLeft);
    this.#settle();
  }

  /** Writes from `offset`, where `piece` starts, until the body ends, the socket is full or the turn is over. */
  #push(answer: Answer, { piece, offset: start, turnBytes, sinceMs }: Writing): void {
    const { body } = answer;
    const { slices } = this.#context;
    let offset = start;
    const turnEnd = offset + turnBytes;
    const leastEnd = body.isSlow ? offset : offset + TURN_BYTES;
    for (let next = piece; ; next = checkedPiece(body, offset)) {
      const part = next.length > turnEnd - offset ? next.subarray(0, turnEnd - offset) : next;
      const [isTaken, isDone] = this.#response.tryEnd(part, body.bytes);
      offset += part.length;
      if (isDone) this.#settle();
      else if (!isTaken) this.#wait(answer);
      else if (offset === turnEnd || (offset >= leastEnd && slices.isUp(sinceMs))) this.#yield(answer, offset);
      else continue;
      return slices.spend(sinceMs);
    }
  }

  /** Goes on in a turn to come: all so far was taken, so that nothing else calls back before. */
  #yield(answer: Answer, offset: number): void {
    this.#goOnLater(() => this.#resume(answer, offset));
  }

  #wait(answer: Answer): void {
    this.#hold();
    this.#noteTurn();
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#response.onWritable((offset) => {
      // The step to come goes on by itself; two would write the same bytes.
      if (!this.#step) this.#yield(answer, offset);
      // Nothing is written here.
      return false;
    });
  }

  #goOnLater(goOn: () => void): void {
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

  /** The answer outlives the handler: from here on the library must be able to say that the client left. */
  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#context.flight.enter(this);
    this.#response.onAborted(() => this.#leave());
  }

  /**
   * The request is read and its answer comes later. What ends the connection in the turn of the event loop that read it
   * is no client, but the next request, pipelined behind. Not called while a body is waited for: nothing can be behind
   * it yet.
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

// The library ends the value of a header with a line break: to a HEAD it ends the head, else it is the body's last 2
// bytes.
const REFUSAL_TEXT = Buffer.from(MALFORMED_REQUEST.body.pieceAt(0)).toString().padEnd(CORK_BYTES);
const REFUSAL_HEAD = `close\r\nContent-Type: application/json\r\nContent-Length: ${REFUSAL_TEXT.length + 2}\r\n`;
const REFUSAL = `${REFUSAL_HEAD}\r\n${REFUSAL_TEXT}`;

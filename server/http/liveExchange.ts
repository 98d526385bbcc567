// One exchange as far as both transports are alike: header lines, bodies, clients that leave, responses that fail. A
// request must not be used once its handler has returned; an assertion says so.
import assert from 'node:assert/strict';
import {
  type Answer,
  type Disconnection,
  type Handler,
  type Intake,
  isIntake,
  type Reply,
  type Request,
  ROUTE,
} from './exchange.ts';
import { type Framing, type Head, INTERNAL_ERROR, joinsLines, judgeHead, REQUEST_BODY_BYTES_MAX } from './framing.ts';
import type { Slices } from '../../workers/slices.ts';
import { BodyBudget, BodyCollector, type BodyProgress } from './bodyCollector.ts';
import { Flight, type ListenOptions, type Watch, type WatchedRequest } from './listener.ts';

/** A request over what the transport presents, as long as that lives. Cost of a header: a pass over the names. */
export abstract class LiveRequest<Raw> implements Request {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  route: number = ROUTE.other;
  id: string | undefined = undefined;
  readonly #head: Head;
  #raw: Raw | undefined;

  constructor(raw: Raw, head: Head) {
    this.#raw = raw;
    this.#head = head;
    this.method = head.method;
    this.target = head.target;
    this.query = head.query;
  }

  header(name: string): string | undefined {
    this.alive();
    return (joinsLines(name) ? this.#joined(name) : this.firstLine(name)) || undefined;
  }

  abstract peer(): string;

  framing(): Framing {
    return judgeHead(this.#head);
  }

  /** How long the body is that follows a well-framed head; undefined where it comes in chunks. */
  declaredBytes(): number | undefined {
    return this.header('transfer-encoding') === undefined ? Number(this.header('content-length') ?? 0) : undefined;
  }

  /** The handler has returned: from here on the request answers nothing more. */
  bury(): void {
    this.#raw = undefined;
  }

  protected alive(): Raw {
    assert(this.#raw !== undefined, 'a request is dead once its handler returned: read what you need before');
    return this.#raw;
  }

  protected firstLine(name: string): string | undefined {
    const { lines } = this.#head;
    for (let i = 0; i < lines.length; i += 2) if (lines[i] === name) return lines[i + 1];
    return undefined;
  }

  #joined(name: string): string {
    const { lines } = this.#head;
    return lines.filter((_, i) => i % 2 === 1 && lines[i - 1] === name).join(', ');
  }
}

/** What all exchanges of one listener share; `onError` gets every bug that became a 500 or a closed connection. */
export interface LiveContext {
  readonly handler: Handler;
  readonly budget: BodyBudget;
  readonly flight: Flight;
  readonly slices: Slices;
  readonly watch: Watch | undefined;
  isDraining: boolean;
  onError(error: unknown): void;
}

export function liveContext({ handler, slices, watch, onError }: ListenOptions): LiveContext {
  return {
    handler,
    budget: new BodyBudget(),
    flight: new Flight(slices.now),
    slices,
    watch,
    isDraining: false,
    // Later and outside the transport's callbacks, so that an observer that throws is an ordinary uncaught exception.
    onError: (error) => void setImmediate(() => onError(error)),
  };
}

/** Takes the next piece of a request's body; nothing happens any more once the answer is known. It never throws. */
export type TakePiece = (piece: Uint8Array, isLast: boolean) => void;

/** A body has to be here whole after this: who sends it byte by byte must not hold its connection for days. */
const BODY_MS_MAX = 10_000;
const NOTHING = new Uint8Array(0);
/** Bodies of one connection that are received or whose answers are not there yet: clients send one after the other. */
const CONNECTION_BODIES_MAX = 8;

/** What the exchanges of one connection share: how many bodies are received or wait for their answers. */
export interface ConnectionBodies {
  bodies: number;
}

/** Shorter bodies are no sliced work: they are written at once, and their time is not counted. */
export const SHORT_BODY_BYTES = 65_536;

/** An exchange until its answer is out. Cost: no array until somebody wants to know when the client leaves. */
export abstract class LiveExchange implements Disconnection {
  readonly #context: LiveContext;
  #failed: Answer = INTERNAL_ERROR;
  #isGone = false;
  #isComingBack = false;
  #listeners: (() => void)[] | undefined;
  /** Whoever has not yet heard what becomes of the request. */
  #watched: WatchedRequest | undefined;
  #route: number = ROUTE.other;
  readonly #connection: ConnectionBodies | undefined;

  /** `connection` where requests of one are received while others wait for their answers. */
  constructor(context: LiveContext, connection?: ConnectionBodies) {
    this.#context = context;
    this.#connection = connection;
  }

  isGone(): boolean {
    return this.#isGone;
  }

  isComingBack(): boolean {
    return this.#isComingBack;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else (this.#listeners ??= []).push(listener);
  }

  /** From here on the watch, where there is one, hears of this request, and may give it an id. */
  watch(request: Request): void {
    this.#watched = this.#context.watch?.(request);
    if (this.#watched?.id !== undefined) request.id = this.#watched.id;
  }

  /** What the answer names the request by, until the watch was told of it. */
  protected get requestId(): string | undefined {
    return this.#watched?.id;
  }

  /** Tells the watch what goes out, before the first byte does. */
  protected tell(answer: Answer): void {
    this.#watched?.answered(answer, this.#route);
    this.#watched = undefined;
  }

  /** Answers a well-framed request, whatever follows its head; the request is dead then. */
  answer(request: LiveRequest<object>, framing: Framing): void {
    const reply = this.#ask(request);
    this.#route = request.route;
    const declaredBytes = isIntake(reply) ? request.declaredBytes() : undefined;
    request.bury();
    if (isIntake(reply)) this.#takeBody(reply, declaredBytes);
    else if (framing === 'oversized') void this.sendLater(closing(reply), false);
    else if (framing === 'body') void this.sendLater(reply, true);
    else if (reply instanceof Promise) void this.sendLater(reply, false);
    else this.send(reply);
  }

  #ask(request: LiveRequest<object>): Reply {
    try {
      return this.#context.handler(request, this);
    } catch (error) {
      return this.#failure(error);
    }
  }

  /** Sends the answer; one that cannot be sent becomes a 500, or ends the connection where its head is out already. */
  send(answer: Answer): void {
    if (this.#isGone) return;
    try {
      this.begin(answer);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Sends the response as soon as it is known. `declaredBytes` is undefined for a chunked body. */
  #takeBody(intake: Intake, declaredBytes: number | undefined): void {
    this.#failed = intake.failed;
    if (declaredBytes !== undefined && declaredBytes > intake.bodyBytesMax) {
      return void this.sendLater({ ...intake.tooLong, close: true }, false);
    }
    if (this.#connection && ++this.#connection.bodies > CONNECTION_BODIES_MAX) {
      return void this.sendLater({ ...intake.busy, close: true }, false);
    }
    const takePiece = this.#collecting(intake, declaredBytes);
    if (declaredBytes === 0) takePiece(NOTHING, true);
    else this.readBody(takePiece);
  }

  #collecting(intake: Intake, declaredBytes: number | undefined): TakePiece {
    const collector = new BodyCollector(intake.bodyBytesMax, declaredBytes, this.#context.budget);
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      isOver = true;
      clearTimeout(timer);
      collector.drop();
    };
    return (piece, isLast) => {
      if (isOver || this.#isGone) return;
      try {
        const collected = collector.take(piece, isLast);
        isOver = collected !== 'more';
        if (isOver) this.#answerTo(intake, collected);
        else if (timer === undefined) {
          timer = setTimeout(() => this.cut(), BODY_MS_MAX);
          this.onGone(end);
        }
      } catch (error) {
        isOver = true;
        this.#giveBack();
        this.fail(error);
      }
      if (isOver) end();
    };
  }

  #answerTo(intake: Intake, collected: BodyProgress): void {
    if (collected === 'tooLong') return this.send({ ...intake.tooLong, close: true });
    if (typeof collected === 'string') return this.send({ ...intake.busy, close: true });
    let answer: Answer | Promise<Answer>;
    try {
      answer = intake.answer(collected);
    } catch (error) {
      answer = this.#failure(error);
    }
    if (answer instanceof Promise) {
      const giveBack = (): void => this.#giveBack();
      if (this.#connection) answer.then(giveBack, giveBack);
      return void this.sendLater(answer, false);
    }
    this.#giveBack();
    this.send(answer);
  }

  /** The connection may have another body instead. */
  #giveBack(): void {
    if (this.#connection) this.#connection.bodies--;
  }

  /** The connection ended before the answer was out: tells whoever listens, and nothing is sent any more. */
  protected depart(isComingBack = false): void {
    this.#isGone = true;
    this.#isComingBack = isComingBack;
    this.#watched?.abandoned(this.#route);
    this.#watched = undefined;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    try {
      for (const listener of listeners) listener();
    } catch (error) {
      this.#context.onError(error);
    }
  }

  /** A bug met while sending: what is answered to one where nothing is out yet, else the end of the connection. */
  protected fail(error: unknown): void {
    const failure = this.#failure(error);
    if (this.hasBegun()) this.cut();
    else this.begin(failure);
  }

  /** The answer once it is there, or that to a bug where it was not to be had. */
  protected async orFailure(answer: Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      return this.#failure(error);
    }
  }

  /** Discards the request's body; resolves with whether it passes the limit, never if the client leaves. */
  protected bodyPassesLimit(): Promise<boolean> {
    let bytes = 0;
    return new Promise((resolve) => {
      this.readBody((piece, isLast) => {
        bytes += piece.length;
        if (isLast || bytes > REQUEST_BODY_BYTES_MAX) resolve(bytes > REQUEST_BODY_BYTES_MAX);
      });
    });
  }

  #failure(error: unknown): Answer {
    this.#context.onError(error);
    return this.#failed;
  }

  /** `awaitsBody` first discards the request's body, up to its limit. */
  protected abstract sendLater(answer: Answer | Promise<Answer>, awaitsBody: boolean): Promise<void>;

  /** Gives every piece of the request's body to `takePiece`, the last one marked; the client may leave meanwhile. */
  protected abstract readBody(takePiece: TakePiece): void;

  /** Reports to the watch, writes the head and what the socket takes. What throws before `hasBegun` did neither. */
  protected abstract begin(answer: Answer): void;

  protected abstract hasBegun(): boolean;

  abstract cut(): void;
}

async function closing(answer: Answer | Promise<Answer>): Promise<Answer> {
  return { ...(await answer), close: true };
}

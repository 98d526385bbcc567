// The common part of an exchange over both transports: header lines, bodies, disconnecting clients, failing responses.
// A request must not be used after its handler has returned, which an assertion checks.
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
import { type Framing, type Head, INTERNAL_ERROR, joinsLines, checkHead, REQUEST_BODY_BYTES_MAX } from './framing.ts';
import type { Slices } from '../../workers/slices.ts';
import { BodyBudget, BodyCollector, type BodyProgress } from './bodyCollector.ts';
import { Flight, type ListenOptions, type Watch, type WatchedRequest } from './listener.ts';

/** A request over the transport's object, as long as that is valid. Cost of a header: a pass over the names. */
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
    return (joinsLines(name) ? this.#joinLines(name) : this.firstLine(name)) || undefined;
  }

  abstract peer(): string;

  framing(): Framing {
    return checkHead(this.#head);
  }

  /** Length of the body after a well-framed head; undefined for a chunked body. */
  declaredBytes(): number | undefined {
    return this.header('transfer-encoding') === undefined ? Number(this.header('content-length') ?? 0) : undefined;
  }

  /** The handler has returned: the request must not be used any more. */
  invalidate(): void {
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

  #joinLines(name: string): string {
    const { lines } = this.#head;
    return lines.filter((_, i) => i % 2 === 1 && lines[i - 1] === name).join(', ');
  }
}

/**
 * Shared by all exchanges of a listener. `onError` is called with every bug that became a 500 or a closed connection.
 */
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
    // Deferred out of the transport's callbacks, so that an error in the observer is an ordinary uncaught exception.
    onError: (error) => void setImmediate(() => onError(error)),
  };
}

/** Takes the next piece of a request's body; ignored once the response is known. Never throws. */
export type TakePiece = (piece: Uint8Array, isLast: boolean) => void;

/** Time limit for a whole body, so that a client that sends byte by byte cannot hold a connection for days. */
const BODY_MS_MAX = 10_000;
const NOTHING = new Uint8Array(0);
/**
 * Bodies of one connection that are being received or wait for their responses. Real clients send one after the other.
 */
const CONNECTION_BODIES_MAX = 8;

/** Shared by the exchanges of one connection. */
export interface ConnectionBodies {
  /** Bodies that are being received or wait for their responses. */
  bodies: number;
}

/** Shorter bodies are not sliced: they are written at once, and their time is not counted. */
export const SHORT_BODY_BYTES = 65_536;

/** An exchange until its response is sent. Allocates the array of listeners only on demand. */
export abstract class LiveExchange implements Disconnection {
  readonly #context: LiveContext;
  #failed: Answer = INTERNAL_ERROR;
  #isGone = false;
  #isComingBack = false;
  #listeners: (() => void)[] | undefined;
  /** The watched request, until the watch has been notified of its outcome. */
  #watched: WatchedRequest | undefined;
  #route: number = ROUTE.other;
  readonly #connection: ConnectionBodies | undefined;

  /** `connection` is needed if a connection may send further requests before it gets its responses. */
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

  /** Announces the request to the watch, if any, which may give it an id. */
  watch(request: Request): void {
    this.#watched = this.#context.watch?.(request);
    if (this.#watched?.id !== undefined) request.id = this.#watched.id;
  }

  /** The id for the response; undefined once the watch has been notified. */
  protected get requestId(): string | undefined {
    return this.#watched?.id;
  }

  /** Notifies the watch of a response before its first byte is sent. */
  protected tell(answer: Answer): void {
    this.#watched?.answered(answer, this.#route);
    this.#watched = undefined;
  }

  /** Handles a well-framed request, whatever follows its head. The request must not be used afterwards. */
  answer(request: LiveRequest<object>, framing: Framing): void {
    const reply = this.#ask(request);
    this.#route = request.route;
    const declaredBytes = isIntake(reply) ? request.declaredBytes() : undefined;
    request.invalidate();
    if (isIntake(reply)) this.#takeBody(reply, declaredBytes);
    else if (framing === 'oversized') void this.sendLater(closing(reply));
    else if (framing === 'body') void this.sendLater(reply, REQUEST_BODY_BYTES_MAX);
    else if (framing === 'empty') void this.sendLater(reply, 0);
    else if (reply instanceof Promise) void this.sendLater(reply);
    else this.send(reply);
  }

  #ask(request: LiveRequest<object>): Reply {
    try {
      return this.#context.handler(request, this);
    } catch (error) {
      return this.#failure(error);
    }
  }

  /** Sends the response. If that fails, sends a 500, or ends the connection if the head is already sent. */
  send(answer: Answer): void {
    if (this.#isGone) return;
    try {
      this.begin(answer);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Collects the body and sends the response. `declaredBytes` is undefined for a chunked body. */
  #takeBody(intake: Intake, declaredBytes: number | undefined): void {
    this.#failed = intake.failed;
    if (declaredBytes !== undefined && declaredBytes > intake.bodyBytesMax) {
      return void this.sendLater({ ...intake.tooLong, close: true });
    }
    if (this.#connection && ++this.#connection.bodies > CONNECTION_BODIES_MAX) {
      return void this.sendLater({ ...intake.busy, close: true });
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
      return void this.sendLater(answer);
    }
    this.#giveBack();
    this.send(answer);
  }

  /** Allows the connection another body. */
  #giveBack(): void {
    if (this.#connection) this.#connection.bodies--;
  }

  /** The connection ended before the response was sent: notifies the listeners; nothing more is sent. */
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

  /** Handles a bug while sending: sends the error response if nothing has been sent, else ends the connection. */
  protected fail(error: unknown): void {
    const failure = this.#failure(error);
    if (this.hasBegun()) this.cut();
    else this.begin(failure);
  }

  /** Resolves to the response, or to the error response if the promise rejects. */
  protected async failureOnError(answer: Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      return this.#failure(error);
    }
  }

  /**
   * Discards the request's body. Resolves to whether it exceeds the limit; never resolves if the client disconnects.
   */
  protected bodyPasses(bytesMax: number): Promise<boolean> {
    let bytes = 0;
    return new Promise((resolve) => {
      this.readBody((piece, isLast) => {
        bytes += piece.length;
        if (isLast || bytes > bytesMax) resolve(bytes > bytesMax);
      });
    });
  }

  #failure(error: unknown): Answer {
    this.#context.onError(error);
    return this.#failed;
  }

  /**
   * Sends the answer when it is known. If `bodyBytesMax` is given, first discards the request's body up to that length;
   * a longer one ends the connection, and is malformed if none may follow.
   */
  protected abstract sendLater(answer: Answer | Promise<Answer>, bodyBytesMax?: number): Promise<void>;

  /**
   * Passes each piece of the request's body to `takePiece`, the last one marked. The client may disconnect meanwhile.
   */
  protected abstract readBody(takePiece: TakePiece): void;

  /**
   * Notifies the watch, then writes the head and as much as the socket takes. If it throws before `hasBegun`, it did
   * neither.
   */
  protected abstract begin(answer: Answer): void;

  protected abstract hasBegun(): boolean;

  abstract cut(): void;
}

async function closing(answer: Answer | Promise<Answer>): Promise<Answer> {
  return { ...(await answer), close: true };
}

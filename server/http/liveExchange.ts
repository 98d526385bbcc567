// One request being answered, as far as both transports are alike: clients that leave, and answers that fail.
// Knows no socket. Extended by nodeExchange.ts and uwsExchange.ts.
import type { Answer, Disconnection } from './exchange.ts';
import { INTERNAL_ERROR } from './refusals.ts';

/** Receives every bug that became a 500 or a closed connection. */
export interface ErrorObserver {
  onError(error: unknown): void;
}

/** An exchange until its answer is out. Cost: no array until somebody wants to know when the client leaves. */
export abstract class LiveExchange implements Disconnection {
  readonly #observer: ErrorObserver;
  #isGone = false;
  #listeners: (() => void)[] | undefined;

  constructor(observer: ErrorObserver) {
    this.#observer = observer;
  }

  isGone(): boolean {
    return this.#isGone;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else (this.#listeners ??= []).push(listener);
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

  /** The connection ended before the answer was out: tells whoever listens, and nothing is sent any more. */
  protected depart(): void {
    this.#isGone = true;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    try {
      for (const listener of listeners) listener();
    } catch (error) {
      this.#observer.onError(error);
    }
  }

  /** A bug met while sending: a 500 where nothing is out yet, else the end of the connection. */
  protected fail(error: unknown): void {
    this.#observer.onError(error);
    if (this.hasBegun()) this.cut();
    else this.begin(INTERNAL_ERROR);
  }

  /** The answer once it is there, or a 500 where it was not to be had. */
  protected async orFailure(answer: Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      this.#observer.onError(error);
      return INTERNAL_ERROR;
    }
  }

  /** Writes the head, and of the body what the socket takes. What throws before `hasBegun` has written nothing. */
  protected abstract begin(answer: Answer): void;

  /** Whether anything of the head is out. */
  protected abstract hasBegun(): boolean;

  /** Ends the connection at once. */
  protected abstract cut(): void;
}

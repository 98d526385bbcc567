// The one client of another catalogue: asks for paths of one host, no faster than told, and again where what came may
// have been an accident. Bounds every body before it is read; follows nothing. Knows no page and no record.
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Pool } from 'undici';
import { bytesWithin } from '../boundedBytes.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import { tlsFailureText } from '../tls.ts';
import { conditionOf, entityTagIn, lastChangeIn, retryAfterMs } from '../validator.ts';

/** A body is at most this long, as it is sent and as it unpacks to: 1,000 records of the size known take 4 MB. */
const BODY_BYTES_MAX = 64 << 20;

/** What is left of an answer that is none is read up to here, so that its connection can be used again. */
const REFUSAL_BYTES_MAX = 1 << 16;

/** Who asks to wait for longer is asked by the next run. */
const RETRY_AFTER_MS_MAX = 900_000;

const BACKOFF_MS_MAX = 30_000;

/**
 * How an upstream is asked. `base` is its base URL, without a slash at the end; `rate` in requests a second; `tries` of
 * one request, the waits between which are drawn from 0 to `backoffMs`, doubled each time; a request takes at most
 * `timeoutMs`; `clock` is steady, in milliseconds.
 */
export interface UpstreamOptions {
  readonly base: string;
  readonly concurrency: number;
  readonly rate: number;
  readonly userAgent: string;
  readonly tries: number;
  readonly backoffMs: number;
  readonly timeoutMs: number;
  readonly clock: () => number;
  /** Told of each answer that is none and is asked for again. */
  readonly onRetry?: (retry: Retry) => void;
}

/**
 * An answer that was none, asked for `tried` times of `tries` by then, and again in `waitMs`; `what` and `reason` are
 * for people.
 */
export interface Retry {
  readonly what: string;
  readonly url: string;
  readonly tried: number;
  readonly tries: number;
  readonly waitMs: number;
  readonly reason: string;
  readonly status: number | undefined;
}

/**
 * What is wrong with one answer, with its status where it is other than 200; `isPassing` where asking again may help.
 * Never leaves `Upstream.get`.
 */
export class Trouble extends Error {
  readonly isPassing: boolean;
  readonly status: number | undefined;
  /** Whether it asked to be left alone for longer than anybody waits. */
  readonly isMuchLater: boolean;
  constructor(message: string, isPassing = true, status?: number, isMuchLater = false) {
    super(message);
    this.isPassing = isPassing;
    this.status = status;
    this.isMuchLater = isMuchLater;
  }
}

/**
 * What to ask for: `what` names it for people, who read `ifMissing` after a 404. `path` and `validator` are called at
 * each try, `onTrouble` after each that failed. With a validator the response may be a 304.
 */
export interface UpstreamRequest {
  readonly what: string;
  readonly ifMissing?: string;
  readonly path: () => string;
  readonly validator?: () => string | undefined;
  readonly onTrouble?: () => void;
}

/**
 * What came: the body, the milliseconds that it took, the URL, and what says later whether that still holds, an entity
 * tag or a date.
 */
export interface UpstreamAnswer {
  readonly body: Buffer;
  readonly ms: number;
  readonly url: string;
  readonly validator: string | undefined;
}

const unpacked = promisify(gunzip);

/** A client of one host. `close` when nothing is asked any more. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #pool: Pool;
  /** The bucket holds one token; when the next one is there, by the clock. */
  #nextMs = 0;
  /** Waits do not keep the process, since nobody ends those that are left when a page could not be had: this does. */
  readonly #keeper = setInterval(() => undefined, 2 ** 30);
  #isClosed = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    const { concurrency: connections, timeoutMs } = options;
    const timeouts = { connect: { timeout: timeoutMs }, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    this.#pool = new Pool(new URL(options.base).origin, { connections, pipelining: 1, ...timeouts });
  }

  /**
   * Resolves to what `read` returns for the response to a path below the base; `read` gets undefined for a 304, and
   * throws `Trouble` for an unusable response. Throws OperationError `network` with what was asked for, the URL and
   * the cause, at once or when no try helped.
   */
  async get<T>(
    { what, ifMissing, path, validator, onTrouble }: UpstreamRequest,
    read: (answer: UpstreamAnswer | undefined) => T,
  ): Promise<T> {
    const { base, tries, backoffMs, clock } = this.#options;
    for (let tried = 1; ; tried++) {
      await this.#turn();
      const url = base + path();
      const startMs = clock();
      try {
        const answer = await this.#answer(url, validator?.());
        return read(answer && { ...answer, ms: clock() - startMs, url });
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        onTrouble?.();
        const { message: reason, status } = error;
        if (!error.isPassing || this.#isClosed || tried >= tries) {
          const times = tried > 1 ? `; tried ${tried} times` : '';
          const hint = status === 404 && ifMissing !== undefined ? `; ${ifMissing}` : '';
          throw new OperationError('network', `${what} (${url}): ${reason}${times}${hint}`, error);
        }
        const delayMs = Math.floor(Math.random() * Math.min(backoffMs * 2 ** (tried - 1), BACKOFF_MS_MAX));
        const waitMs = Math.max(delayMs, this.#nextMs - clock());
        this.#options.onRetry?.({ what, url, tried, tries, waitMs, reason, status });
        await wait(delayMs, undefined, { ref: false });
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#keeper);
    await this.#pool.destroy();
  }

  /** Takes the next token of the bucket, and waits until it is there. */
  async #turn(): Promise<void> {
    const { clock, rate } = this.#options;
    for (let now = clock(); now < this.#nextMs; now = clock())
      await wait(this.#nextMs - now, undefined, { ref: false });
    this.#nextMs = Math.max(clock(), this.#nextMs) + 1000 / rate;
  }

  /** The body and what it may be asked for by again; undefined where it is as it was. */
  async #answer(
    url: string,
    validator: string | undefined,
  ): Promise<Pick<UpstreamAnswer, 'body' | 'validator'> | undefined> {
    const { userAgent, timeoutMs } = this.#options;
    const { pathname, search } = new URL(url);
    const asked = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': userAgent };
    const headers = { ...asked, ...conditionOf(validator) };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await this.#pool.request({ method: 'GET', path: pathname + search, headers, signal });
      if (answer.statusCode === 304 && validator !== undefined) {
        await answer.body.dump({ limit: REFUSAL_BYTES_MAX, signal });
        return undefined;
      }
      if (answer.statusCode !== 200) {
        await answer.body.dump({ limit: REFUSAL_BYTES_MAX, signal }).catch(() => undefined);
        throw this.#refusal(answer.statusCode, answer.headers);
      }
      const sent = await bytesWithin(answer.body, BODY_BYTES_MAX);
      if (!sent) throw tooLong();
      const body = await decoded(sent, textOf(answer.headers['content-encoding']));
      const isHtml = /html/i.test(textOf(answer.headers['content-type'])) || body[0] === 0x3c;
      if (isHtml) throw new Trouble('HTML in place of JSON');
      return { body, validator: validatorIn(answer.headers) };
    } catch (error) {
      if (error instanceof Trouble) throw error;
      if (signal.aborted) throw new Trouble(`no whole answer within ${timeoutMs} ms`);
      const tlsFailure = tlsFailureText(error);
      throw new Trouble(tlsFailure ?? `${reasonOf(error)}: ${(error as Error).message}`, tlsFailure === undefined);
    }
  }

  /** What a status other than 200 means; where it says when to come back, nobody asks before. */
  #refusal(status: number, headers: Headers): Trouble {
    const trouble = (what: string, isPassing: boolean): Trouble => new Trouble(what, isPassing, status);
    const waitMs = retryAfterMs((name) => textOf(headers[name]));
    if (status >= 300 && status < 400 && headers['location'] !== undefined)
      return trouble(`${status}: leads to ${textOf(headers['location'])}, which is not followed`, false);
    const isPassing = [408, 425, 429].includes(status) || status >= 500 || (status === 403 && waitMs !== undefined);
    if (!isPassing || waitMs === undefined) return trouble(`answered ${status}`, isPassing);
    const seconds = Math.ceil(waitMs / 1000);
    if (waitMs > RETRY_AFTER_MS_MAX)
      return new Trouble(`answered ${status} and asks to come back in ${seconds} s: do so`, false, status, true);
    this.#nextMs = Math.max(this.#nextMs, this.#options.clock() + waitMs);
    return trouble(`answered ${status}, Retry-After ${seconds} s`, true);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function textOf(header: string | string[] | undefined): string {
  return [header ?? ''].flat().join(', ');
}

/** A date is believed where it was so long ago. */
const SETTLED_MS = 60_000;

function validatorIn(headers: Headers): string | undefined {
  const headerOf = (name: string): string => textOf(headers[name]);
  return entityTagIn(headerOf) ?? lastChangeIn(headerOf, SETTLED_MS);
}

async function decoded(sent: Buffer, coding: string): Promise<Buffer> {
  if (coding === '' || coding === 'identity') return sent;
  if (coding !== 'gzip') throw new Trouble(`the content coding ${JSON.stringify(coding)}, which was not asked for`);
  try {
    return await unpacked(sent, { maxOutputLength: BODY_BYTES_MAX });
  } catch (error) {
    if (reasonOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLong();
    throw new Trouble(`its gzip is damaged (${(error as Error).message})`);
  }
}

function tooLong(): Trouble {
  return new Trouble(`a body of more than ${BODY_BYTES_MAX} bytes`);
}

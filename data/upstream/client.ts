// The HTTP client for another catalogue: requests paths of one host within a rate limit, and retries after temporary
// failures. Limits the length of every body before it is read, and follows no redirects. Knows neither pages nor
// records.
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readBytesWithin } from '../boundedBytes.ts';
import { type Connections, connectionsTo } from '../connections.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { tlsFailureText } from '../tls.ts';
import { conditionHeaders, readEntityTag, readLastChange, retryAfterMs } from '../validator.ts';

/** Limit of a body, both compressed and decompressed. 1,000 records of the known size take 4 MB. */
const BODY_BYTES_MAX = 64 << 20;

/** The body of a failed response is read up to this many bytes, so that its connection can be reused. */
const REFUSAL_BYTES_MAX = 1 << 16;

/** If a server requests a longer wait, this run fails and the next one tries again. */
const RETRY_AFTER_MS_MAX = 900_000;

const BACKOFF_MS_MAX = 30_000;

/**
 * `base` is the base URL of the upstream without a slash at the end; `rate` is in requests a second. A request takes at
 * most `timeoutMs`. It is tried `tries` times; the waits between are random, from 0 to `backoffMs`, which doubles each
 * time. `clock` is steady, in milliseconds.
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
  /** Called before a failed request is retried. */
  readonly onRetry?: (retry: Retry) => void;
}

/**
 * A failed request that will be retried in `waitMs`. `tried` of `tries` attempts have been made. `what` and `reason`
 * are for messages.
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
 * The failure of one request, with its status if that is not 200. `isPassing` is true if a retry may help. Never thrown
 * by `Upstream.get`.
 */
export class Trouble extends Error {
  readonly isPassing: boolean;
  readonly status: number | undefined;
  /** Whether the server requests a longer wait than the limit. */
  readonly isMuchLater: boolean;
  constructor(message: string, isPassing = true, status?: number, isMuchLater = false) {
    super(message);
    this.isPassing = isPassing;
    this.status = status;
    this.isMuchLater = isMuchLater;
  }
}

/**
 * A request. `what` names it in messages, and `ifMissing` is added after a 404. `path` and `validator` are called
 * before each attempt, `onTrouble` after each failed one. With a validator the response may be a 304. With `isAny` a
 * response of any type is accepted, and any status for which a retry is useless.
 */
export interface UpstreamRequest {
  readonly what: string;
  readonly ifMissing?: string;
  readonly path: () => string;
  readonly validator?: () => string | undefined;
  readonly onTrouble?: () => void;
  readonly isAny?: boolean;
}

/**
 * A response: the body, its duration in milliseconds, the URL, and a validator (entity tag or date) for later requests.
 */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly ms: number;
  readonly url: string;
  readonly validator: string | undefined;
}

const unpacked = promisify(gunzip);

/** A client of one host. Call `close` after the last request. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #connections: Connections;
  /** The time, by the clock, when the token bucket has its next token. It holds one. */
  #nextMs = 0;
  readonly #closing = new AbortController();

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#connections = connectionsTo(new URL(options.base).origin, options.timeoutMs, options.concurrency);
  }

  /**
   * Resolves to the result of `read` for the response to a path below the base. `read` gets undefined for a 304, and
   * throws `Trouble` for an unusable response. Throws OperationError `network` with the request, the URL and the cause,
   * either immediately or after the last attempt.
   */
  async get<T>(
    { what, ifMissing, path, validator, onTrouble, isAny = false }: UpstreamRequest,
    read: (answer: UpstreamAnswer | undefined) => T,
  ): Promise<T> {
    const { base, tries, backoffMs, clock } = this.#options;
    for (let attempts = 1; ; attempts++) {
      await this.#turn();
      const url = base + path();
      const startMs = clock();
      try {
        const answer = await this.#answer(url, validator?.(), isAny);
        return read(answer && { ...answer, ms: clock() - startMs, url });
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        onTrouble?.();
        const { message: reason, status } = error;
        if (!error.isPassing || attempts >= tries) {
          const times = attempts > 1 ? `; tried ${attempts} times` : '';
          const hint = status === 404 && ifMissing !== undefined ? `; ${ifMissing}` : '';
          throw new OperationError('network', `${what} (${url}): ${reason}${times}${hint}`, error);
        }
        const delayMs = Math.floor(Math.random() * Math.min(backoffMs * 2 ** (attempts - 1), BACKOFF_MS_MAX));
        const waitMs = Math.max(delayMs, this.#nextMs - clock());
        this.#options.onRetry?.({ what, url, tried: attempts, tries, waitMs, reason, status });
        await this.#pause(delayMs);
      }
    }
  }

  /** Ends all waits and requests; they reject with OperationError `network`. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connections.destroy();
  }

  /** Waits for a token of the bucket and takes it. */
  async #turn(): Promise<void> {
    const { clock, rate } = this.#options;
    for (let now = clock(); now < this.#nextMs; now = clock()) await this.#pause(this.#nextMs - now);
    this.#nextMs = Math.max(clock(), this.#nextMs) + 1000 / rate;
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#closing.signal }).catch(() => {
      throw new OperationError('network', `${this.#options.base}: no response in time`);
    });
  }

  /** Resolves to undefined for a 304. */
  async #answer(
    url: string,
    validator: string | undefined,
    isAny: boolean,
  ): Promise<Omit<UpstreamAnswer, 'ms' | 'url'> | undefined> {
    const { userAgent, timeoutMs } = this.#options;
    const { pathname, search } = new URL(url);
    const accept = isAny ? '*/*' : 'application/json';
    const common = { accept, 'accept-encoding': 'gzip', 'user-agent': userAgent };
    const headers = { ...common, ...conditionHeaders(validator) };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await this.#connections.request({ method: 'GET', path: pathname + search, headers, signal });
      if (answer.statusCode === 304 && validator !== undefined) {
        await answer.body.dump({ limit: REFUSAL_BYTES_MAX, signal });
        return undefined;
      }
      const refusal = answer.statusCode === 200 ? undefined : this.#refusal(answer.statusCode, answer.headers);
      if (refusal && (refusal.isPassing || !isAny)) {
        await answer.body.dump({ limit: REFUSAL_BYTES_MAX, signal }).catch(() => undefined);
        throw refusal;
      }
      const bytes = await readBytesWithin(answer.body, BODY_BYTES_MAX);
      if (!bytes) throw tooLong();
      const body = await decode(bytes, joinHeader(answer.headers['content-encoding']));
      const isHtml = /html/i.test(joinHeader(answer.headers['content-type'])) || body[0] === 0x3c;
      if (isHtml && !isAny) throw new Trouble('HTML instead of JSON');
      return { status: answer.statusCode, headers: answer.headers, body, validator: readValidator(answer.headers) };
    } catch (error) {
      if (error instanceof Trouble) throw error;
      if (this.#closing.signal.aborted) throw new Trouble('no response in time', false);
      if (signal.aborted) throw new Trouble(`no complete response within ${timeoutMs} ms`);
      const tlsFailure = tlsFailureText(error);
      throw new Trouble(tlsFailure ?? `${reasonOf(error)}: ${(error as Error).message}`, tlsFailure === undefined);
    }
  }

  /** The failure for a status other than 200. After a Retry-After, no request is sent before that time. */
  #refusal(status: number, headers: Headers): Trouble {
    const trouble = (reason: string, isPassing: boolean): Trouble => new Trouble(reason, isPassing, status);
    const waitMs = retryAfterMs((name) => joinHeader(headers[name]));
    if (status >= 300 && status < 400 && headers['location'] !== undefined)
      return trouble(`${status}: leads to ${joinHeader(headers['location'])}, which is not followed`, false);
    const isPassing = [408, 425, 429].includes(status) || status >= 500 || (status === 403 && waitMs !== undefined);
    if (!isPassing || waitMs === undefined) return trouble(`answered ${status}`, isPassing);
    const seconds = Math.ceil(waitMs / 1000);
    if (waitMs > RETRY_AFTER_MS_MAX)
      return new Trouble(
        `answered ${status} and asks to retry after ${seconds} s: run again then`,
        false,
        status,
        true,
      );
    this.#nextMs = Math.max(this.#nextMs, this.#options.clock() + waitMs);
    return trouble(`answered ${status}, Retry-After ${seconds} s`, true);
  }
}

/** The status for which a request failed; undefined if it failed for another reason. */
export function failedStatus(error: unknown): number | undefined {
  return error instanceof OperationError && error.cause instanceof Trouble ? error.cause.status : undefined;
}

/** Runs `work` for all items, `concurrency` at a time. */
export async function forEachParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
  onProgress: OnProgress,
  phase: string,
): Promise<void> {
  const [total, unit] = [items.length, 'requests'] as const;
  let [begun, done] = [0, 0];
  const worker = async (): Promise<void> => {
    while (begun < total) {
      await work(items[begun++]!);
      onProgress({ phase, done: ++done, total, unit });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function joinHeader(header: string | string[] | undefined): string {
  return [header ?? ''].flat().join(', ');
}

/** A modification date is used as a validator only if it was this long ago. */
const SETTLED_MS = 60_000;

function readValidator(headers: Headers): string | undefined {
  const headerOf = (name: string): string => joinHeader(headers[name]);
  return readEntityTag(headerOf) ?? readLastChange(headerOf, SETTLED_MS);
}

async function decode(bytes: Buffer, coding: string): Promise<Buffer> {
  if (coding === '' || coding === 'identity') return bytes;
  if (coding !== 'gzip') throw new Trouble(`the content coding ${JSON.stringify(coding)}, which was not requested`);
  try {
    return await unpacked(bytes, { maxOutputLength: BODY_BYTES_MAX });
  } catch (error) {
    if (reasonOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLong();
    throw new Trouble(`its gzip is damaged (${(error as Error).message})`);
  }
}

function tooLong(): Trouble {
  return new Trouble(`a body of more than ${BODY_BYTES_MAX} bytes`);
}

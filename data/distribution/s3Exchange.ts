// Signed requests to an S3 server, retried if that may help, with bounded waits. Refusals are explained by their code.
// Sentences of the server are never shown, because they may contain keys and signatures.
import { childElements, textContent, readXml, type XmlElement } from '../xml/xml.ts';
import { AwsV4Signer } from 'aws4fetch';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { OperationError } from '../operationError.ts';
import { tlsFailureText } from '../tls.ts';
import { retryAfterMs } from '../validator.ts';
import { targetError, type ObjectAnswer, type ObjectHost, objectHost, type ObjectRequest } from './httpExchange.ts';
import { keySource } from './s3Keys.ts';
import type { S3Access, S3Keys } from './target.ts';

/** Longer than any response: a list has 1,000 entries of a few hundred bytes at most. */
const ANSWER_BYTES_MAX = 1 << 22;
/** A list of 1,000 entries has about ten elements in each. */
const LIMITS = { depth: 16, elements: 50_000, attributes: 16, instructions: 16 } as const;

/** Texts by element name. If a name is repeated, the last one. */
type ElementTexts = Readonly<Record<string, string | undefined>>;

/** A response: the name of its root, the texts directly in it, and those of its elements that have child elements. */
export interface S3Answer {
  readonly root: string;
  readonly texts: ElementTexts;
  entries(name: string): readonly ElementTexts[];
}

/** Parses a response; undefined if it is not XML. Cost: that of `readXml`. */
export function readS3Answer(text: string): S3Answer | undefined {
  const reading = readXml(text, LIMITS);
  if (reading.kind === 'refused') return undefined;
  const { root } = reading;
  const entries = childElements(root).filter((entry) => childElements(entry).length > 0);
  const findNamed = (name: string): readonly ElementTexts[] =>
    entries.filter((entry) => entry.name === name).map(childTexts);
  return { root: root.name, texts: childTexts(root), entries: findNamed };
}

function childTexts(element: XmlElement): ElementTexts {
  const texts = Object.create(null) as Record<string, string>;
  for (const child of childElements(element)) texts[child.name] = textContent(child);
  return texts;
}

interface S3Refusal {
  readonly status: number;
  readonly body: string;
  readonly region: string;
  readonly date: string;
}

/** The environment variables with the keys. No setting and no file contains them. */
const KEYS_FROM = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';

const CURES: Readonly<Record<string, string>> = {
  AccessDenied: `the owner of ${KEYS_FROM} may not do this: allow s3:GetObject and s3:ListBucket, for a publisher also s3:PutObject, s3:DeleteObject and multipart uploads`,
  InvalidAccessKeyId: 'the server does not know AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY is not that of AWS_ACCESS_KEY_ID, or --s3-region is another one',
  ExpiredToken: 'AWS_SESSION_TOKEN has expired: start again with new keys',
  InvalidToken: 'AWS_SESSION_TOKEN is not that of AWS_ACCESS_KEY_ID',
  NoSuchBucket: 'make the bucket first: none is made here',
  EntityTooLarge: 'the server does not accept objects of this size',
  QuotaExceeded: 'the bucket is full: prune it, or raise its quota',
  SlowDown: 'the server requests a lower rate',
};

const CODE = /^[A-Za-z]{1,64}$/;
const REGION = /^[a-z0-9-]{1,32}$/;

/** A sentence about a response: its status, its code if it has one, and what to do. */
function refusalText({ status, body, region: regionHeader, date }: S3Refusal, hasKeys: boolean): string {
  const texts = readS3Answer(body)?.texts ?? {};
  const code = texts['Code'] ?? '';
  const outcome = CODE.test(code) ? `answered ${status} ${code}` : `answered ${status}`;
  const region = [regionHeader, texts['Region'] ?? ''].find((region) => REGION.test(region));
  const isElsewhere = code === 'AuthorizationHeaderMalformed' || (status >= 300 && status < 400);
  if (isElsewhere)
    return `${outcome}: ${region === undefined ? 'the bucket is elsewhere, and nothing is followed' : `the bucket is in another region: want --s3-region ${region}`}`;
  if (code === 'RequestTimeTooSkewed')
    return `${outcome}: the clocks differ, that of the server says ${/^[\w:, ]{1,40}$/.test(date) ? date : 'nothing'}: set the clock of this machine`;
  if ([400, 401, 403].includes(status) && !hasKeys) return `${outcome}: needs keys in ${KEYS_FROM}`;
  const cure = CURES[CODE.test(code) ? code : ''] ?? (status === 403 ? CURES['AccessDenied'] : undefined);
  return cure === undefined ? outcome : `${outcome}: ${cure}`;
}

/** The parts of an upload that are sent at once, and another request. */
const CONNECTIONS = 5;
/** Maximum number of attempts. The wait between them doubles, or is longer if the server requests it. */
const TRIES = 4;
const WAIT_MS = 250;
/** Upper limit of a wait that the server requests. */
const RETRY_AFTER_MS_MAX = 20_000;
/** The request is retried if the server does not accept this many bytes of a body within the time limit. */
const SLICE_BYTES = 1 << 16;
/** Statuses after which another attempt may succeed. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** The environment variable of each key. */
const VARIABLES = { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY', token: 'AWS_SESSION_TOKEN' } as const;

/**
 * A request for a key in the bucket; '' is the bucket itself. `answerMs` limits the time until the response begins, and
 * in `text` also the time until it ends.
 */
export interface S3Request {
  readonly method: ObjectRequest['method'];
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly answerMs?: number;
  readonly signal?: AbortSignal;
  /** Statuses that are not refusals. The caller handles their bodies. */
  readonly expected: readonly number[];
}

export class S3Exchange {
  /** The origin of the bucket, for messages. */
  readonly origin: string;
  readonly #host: ObjectHost;
  readonly #base: string;
  readonly #access: S3Access;
  readonly #timeoutMs: number;
  readonly #keys: () => Promise<S3Keys | undefined>;

  /**
   * Sends no request yet. Throws OperationError `usage` for invalid keys and for an endpoint that cannot have the
   * bucket in its host name.
   */
  constructor(bucket: string, access: S3Access, timeoutMs: number) {
    const { keys, region } = access;
    const wrong = keys && (['id', 'secret', 'token'] as const).find((key) => !/^[!-~]*$/.test(keys[key]));
    if (wrong)
      throw new OperationError(
        'usage',
        `environment variable ${VARIABLES[wrong]}: want printable ASCII without blanks`,
      );
    if (keys && (keys.id === '') !== (keys.secret === ''))
      throw new OperationError('usage', `want both of ${KEYS_FROM} in the environment, or none for a public bucket`);
    const endpoint = new URL(access.endpoint ?? `https://s3.${region}.amazonaws.com`);
    // A wildcard certificate covers a single label, so a bucket with dots needs the path.
    const isPath =
      access.addressing === undefined
        ? access.endpoint !== undefined || bucket.includes('.')
        : access.addressing === 'path';
    const folder = endpoint.pathname.replace(/\/+$/, '');
    this.origin = isPath ? endpoint.origin : `${endpoint.protocol}//${bucket}.${endpoint.host}`;
    if (!URL.canParse(this.origin))
      throw new OperationError(
        'usage',
        '--s3-addressing host needs a host name in --s3-endpoint, not an IP address: use --s3-addressing path',
      );
    this.#base = isPath ? `${folder}/${bucket}` : folder;
    this.#host = objectHost(this.origin, timeoutMs, CONNECTIONS);
    this.#access = access;
    this.#timeoutMs = timeoutMs;
    this.#keys = keySource(access, timeoutMs);
  }

  /**
   * Returns a response with an expected status. Throws OperationError `network` for any other response or for none.
   * Cost: up to TRIES attempts. The time limit applies to each of them, but not to a body that makes progress.
   */
  async send(request: S3Request): Promise<ObjectAnswer> {
    for (let attempts = 1; ; attempts++) {
      let answer: ObjectAnswer | undefined;
      let failure: OperationError;
      try {
        answer = await this.#once(request);
        if (request.expected.includes(answer.status)) return answer;
        failure = await this.#explainRefusal(request, answer);
      } catch (error) {
        if (!(error instanceof OperationError) || error.code !== 'network') throw error;
        failure = error;
      }
      const isPassing = answer ? PASSING.has(answer.status) : tlsFailureText(failure.cause) === undefined;
      if (!isPassing || attempts === TRIES || request.signal?.aborted === true) throw failure;
      await pause(attempts, request.signal, answer && retryAfterMs(answer.header));
    }
  }

  /**
   * Returns the text of a response, with a limited length and time. A slow server may fail after it has sent 200: an
   * InternalError in the text is retried like a 500. Throws OperationError `network`.
   */
  async text(request: S3Request): Promise<string> {
    const limit = AbortSignal.timeout(request.answerMs ?? this.#timeoutMs * TRIES);
    const signal = request.signal ? AbortSignal.any([request.signal, limit]) : limit;
    for (let attempts = 1; ; attempts++) {
      const text = await (await this.send({ ...request, signal })).text(ANSWER_BYTES_MAX);
      if (attempts === TRIES || readS3Answer(text)?.texts['Code'] !== 'InternalError') return text;
      await pause(attempts, signal);
    }
  }

  /** The URL of a key, for messages. Contains no secret. */
  urlFor(key: string): string {
    return this.origin + this.#pathTo(key);
  }

  close(): Promise<void> {
    return this.#host.close();
  }

  #pathTo(key: string): string {
    return key === '' && this.#base !== '' ? this.#base : `${this.#base}/${key}`;
  }

  async #once({ method, key, query = {}, headers = {}, body, answerMs, signal }: S3Request): Promise<ObjectAnswer> {
    const search = new URLSearchParams(query).toString().replaceAll('+', '%20');
    const path = search === '' ? this.#pathTo(key) : `${this.#pathTo(key)}?${search}`;
    const signed = await this.#sign(method, this.origin + path, headers, body);
    const stalled = new AbortController();
    const ends = AbortSignal.any([...(signal ? [signal] : []), stalled.signal]);
    const outgoing = { method, path, headers: signed, signal: ends, headersTimeout: answerMs ?? this.#timeoutMs };
    if (body === undefined) return this.#host.send(outgoing);
    const stall = targetError(this.urlFor(key), 'takes what it is sent too slowly, or not at all');
    const timer = setInterval(() => stalled.abort(stall), this.#timeoutMs);
    const slices = Readable.from(
      cutSlices(
        body,
        () => timer.refresh(),
        () => clearInterval(timer),
      ),
      { objectMode: false },
    );
    try {
      return await this.#host.send({
        ...outgoing,
        body: slices,
        headers: { ...signed, 'content-length': String(body.length) },
      });
    } finally {
      clearInterval(timer);
      slices.destroy();
    }
  }

  async #sign(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array = new Uint8Array(),
  ): Promise<Readonly<Record<string, string>>> {
    const { region } = this.#access;
    const keys = await this.#keys();
    if (!keys || keys.id === '') return headers;
    const sum = createHash('sha256').update(body).digest('hex');
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { ...headers, 'x-amz-content-sha256': sum },
      accessKeyId: keys.id,
      secretAccessKey: keys.secret,
      ...(keys.token !== '' && { sessionToken: keys.token }),
      service: 's3',
      region,
    });
    return Object.fromEntries((await signer.sign()).headers);
  }

  async #explainRefusal({ key }: S3Request, answer: ObjectAnswer): Promise<OperationError> {
    const [region, date] = [answer.header('x-amz-bucket-region'), answer.header('date')];
    const body = await answer.text(ANSWER_BYTES_MAX).catch(() => '');
    const { keys, keyService } = this.#access;
    const hasKeys = keyService !== undefined || (keys?.id ?? '') !== '';
    return targetError(this.urlFor(key), refusalText({ status: answer.status, body, region, date }, hasKeys));
  }
}

async function pause(attempts: number, signal: AbortSignal | undefined, askedMs = 0): Promise<void> {
  const ms = Math.min(Math.max(askedMs, WAIT_MS * 2 ** attempts), RETRY_AFTER_MS_MAX);
  await wait(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
}

function* cutSlices(body: Uint8Array, onSlice: () => void, onEnd: () => void): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    onSlice();
    yield body.subarray(at, at + SLICE_BYTES);
  }
  onEnd();
}

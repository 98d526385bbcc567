// A target in a bucket of an S3 server: objects under a prefix, and a pointer that is replaced only if it has not
// changed since it was read. A server that ignores such conditions is detected first.
import { targetError, type ObjectAnswer, readPart, rangeHeader } from './httpExchange.ts';
import { readS3Answer, type S3Answer, S3Exchange, type S3Request } from './s3Exchange.ts';
import { OperationError } from '../operationError.ts';
import {
  encodePointer,
  isObjectName,
  type ListedObject,
  type ObjectBytes,
  type Pointer,
  POINTER_BYTES_MAX,
  POINTER_NAME,
  type PointerText,
  type PublishingTarget,
  readCurrent,
  type S3Access,
} from './target.ts';
import { s3Prefix } from './targetUrl.ts';

const MIB = 1 << 20;
/** The size of a part. Parts are larger only if there would be too many. */
const PART_BYTES = 16 * MIB;
/** A limit of S3. */
const PARTS_MAX = 10_000;
/** Parts that are sent at once. An upload holds one more in memory. */
const PARTS_AT_ONCE = 3;
/** A server assembles the parts before it responds. */
const COMPLETE_MS = 600_000;

interface Upload {
  readonly exchange: S3Exchange;
  readonly key: string;
  readonly size: number;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Overrides the size of parts. S3 servers require a minimum. */
  readonly partBytes?: number;
}

/**
 * Writes an object, completely or not at all. Throws OperationError `network`, and whatever `pieces` throws. Memory:
 * four parts, which are 64 MiB for objects up to 160 GB.
 */
export async function upload({ exchange, key, size, pieces, partBytes = PART_BYTES }: Upload): Promise<void> {
  const bytes = size > partBytes * PARTS_MAX ? Math.ceil(size / PARTS_MAX / MIB) * MIB : partBytes;
  const parts = cutIntoParts(pieces, bytes);
  if (size <= bytes) {
    const tags: Uint8Array[] = [];
    for await (const part of parts) tags.push(part);
    const answer = await exchange.send({ method: 'PUT', key, body: Buffer.concat(tags), expected: [200, 204] });
    return answer.discard();
  }
  const reply = await exchange.text({ method: 'POST', key, query: { uploads: '' }, expected: [200] });
  const uploadId = readS3Answer(reply)?.texts['UploadId'];
  if (uploadId === undefined || !/^[\x21-\x7e]{1,1024}$/.test(uploadId))
    throw targetError(exchange.urlFor(key), 'returned no valid upload id');
  try {
    const tags = await sendParts(exchange, key, uploadId, parts);
    await complete(exchange, key, uploadId, tags);
  } catch (error) {
    // Prune removes an upload that cannot be aborted now.
    await abortUpload(exchange, key, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Aborts an incomplete upload if it exists. Throws OperationError `network`. */
async function abortUpload(exchange: S3Exchange, key: string, uploadId: string): Promise<void> {
  const answer = await exchange.send({ method: 'DELETE', key, query: { uploadId }, expected: [204, 200, 404] });
  await answer.discard();
}

/** The same bytes in parts of equal length, except the last. No bytes give no parts. */
async function* cutIntoParts(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let part = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const slice = piece.subarray(at, at + bytes - filled);
      part.set(slice, filled);
      filled += slice.length;
      at += slice.length;
      if (filled < bytes) continue;
      yield part;
      part = Buffer.allocUnsafe(bytes);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

/** Sends all parts. Returns their tags in order. Before it throws, it waits for the requests in progress. */
async function sendParts(
  exchange: S3Exchange,
  key: string,
  uploadId: string,
  parts: AsyncIterable<Uint8Array>,
): Promise<readonly string[]> {
  const stop = new AbortController();
  const tags: string[] = [];
  const running = new Set<Promise<void>>();
  const send = async (body: Uint8Array, number: number): Promise<void> => {
    const query = { partNumber: String(number), uploadId };
    const answer = await exchange.send({ method: 'PUT', key, query, body, signal: stop.signal, expected: [200] });
    const tag = answer.header('etag');
    await answer.discard();
    if (!/^"?[\w-]{1,128}"?$/.test(tag)) throw targetError(exchange.urlFor(key), `returned no tag for part ${number}`);
    tags[number - 1] = tag;
  };
  const note = (error: unknown): void => {
    if (!stop.signal.aborted) stop.abort(error);
  };
  try {
    let number = 0;
    for await (const part of parts) {
      const sending: Promise<void> = send(part, ++number)
        .catch(note)
        .finally(() => running.delete(sending));
      running.add(sending);
      if (running.size >= PARTS_AT_ONCE) await Promise.race(running);
      if (stop.signal.aborted) break;
    }
  } catch (error) {
    note(error);
  }
  await Promise.all(running);
  stop.signal.throwIfAborted();
  return tags;
}

async function complete(exchange: S3Exchange, key: string, uploadId: string, tags: readonly string[]): Promise<void> {
  const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  const body = new TextEncoder().encode(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const completion = { method: 'POST', key, query: { uploadId }, body, answerMs: COMPLETE_MS } as const;
  const text = await exchange.text({ ...completion, expected: [200, 404] });
  // The server responds 200 before it knows the outcome, and 404 if an earlier attempt succeeded but its response was
  // lost.
  const answer = readS3Answer(text);
  if (answer?.root === 'CompleteMultipartUploadResult') return;
  const code = /^[A-Za-z]{1,64}$/.exec(answer?.texts['Code'] ?? '')?.[0] ?? 'with an unknown error';
  if (code !== 'NoSuchUpload' || !(await isThere(exchange, key)))
    throw targetError(exchange.urlFor(key), `did not assemble the object, it answered ${code}: publish again`);
}

async function isThere(exchange: S3Exchange, key: string): Promise<boolean> {
  const answer = await exchange.send({ method: 'HEAD', key, expected: [200, 404] });
  await answer.discard();
  return answer.status === 200;
}

/** A million objects. A list that does not end after them is an error. */
const PAGES_MAX = 1000;
/** The object that is written with a false condition, to find out whether the server checks conditions. */
const PROBE = 'conditions.probe';
/** The responses of a server that checks them: the object differs or does not exist. */
const MINDS: ReadonlySet<number> = new Set([404, 409, 412]);
/** The name of an incomplete upload in a list, with its key and its id. */
const UPLOAD = /^upload ([^ ]+) (.+)$/;

/** The folder of an `s3:` URL as a target. Sends no request yet. Throws OperationError `usage` for incomplete keys. */
export function s3Target(url: URL, timeoutMs: number, access: S3Access): PublishingTarget {
  const prefix = s3Prefix(url);
  return new S3Target(url, prefix === '' ? '' : `${prefix}/`, timeoutMs, access);
}

class S3Target implements PublishingTarget {
  readonly name: string;
  readonly #prefix: string;
  readonly #exchange: S3Exchange;
  readonly #timeoutMs: number;
  readonly #access: S3Access;
  #isMinding: Promise<boolean> | undefined;

  constructor(url: URL, prefix: string, timeoutMs: number, access: S3Access) {
    this.#exchange = new S3Exchange(url.hostname, access, timeoutMs);
    this.name = access.endpoint === undefined ? url.href : `${url.href} (${access.endpoint})`;
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
    this.#access = access;
  }

  async readPointer(known: string | undefined, signal: AbortSignal): Promise<PointerText | 'unchanged' | undefined> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]);
    const headers = known === undefined ? {} : { 'if-none-match': known };
    const answer = await this.#send('GET', POINTER_NAME, [200, 304, 404], { headers, signal: bounded });
    if (answer.status === 200)
      return { text: await answer.text(POINTER_BYTES_MAX), validator: answer.header('etag') || undefined };
    if (answer.status === 404) return this.#assertBucket(answer);
    await answer.discard();
    return 'unchanged';
  }

  async read(name: string, offset: number, signal: AbortSignal): Promise<ObjectBytes | undefined> {
    const answer = await this.#send('GET', name, [200, 206, 404], { headers: rangeHeader(offset), signal });
    const part = readPart(answer, offset);
    if (part) return part;
    if (answer.status === 404) return this.#assertBucket(answer);
    await answer.discard();
    throw targetError(this.#exchange.urlFor(this.#prefix + name), `answered ${answer.status} with another part`);
  }

  async has(name: string, size: number): Promise<boolean> {
    const answer = await this.#send('HEAD', name, [200, 404]);
    await answer.discard();
    return answer.status === 200 && answer.header('content-length') === String(size);
  }

  async write(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await upload({ exchange: this.#exchange, key: this.#prefix + name, size, pieces });
  }

  async replacePointer(next: Pointer, expected: PointerText | undefined): Promise<boolean> {
    const text = encodePointer(next);
    const body = new TextEncoder().encode(text);
    const isMinding = await this.#assertMinding();
    if (!isMinding && (await readCurrent(this))?.text !== expected?.text) return false;
    if (expected && expected.validator === undefined)
      throw targetError(this.name, `returned no ETag for ${POINTER_NAME}`);
    const headers: Record<string, string> = expected ? { 'if-match': expected.validator! } : { 'if-none-match': '*' };
    const condition = isMinding ? headers : {};
    const answer = await this.#send('PUT', POINTER_NAME, [200, 204, 404, 409, 412], { headers: condition, body });
    await answer.discard();
    if (isMinding && answer.status < 300) return true;
    // An earlier attempt may have succeeded although its response was lost.
    return (await readCurrent(this))?.text === text;
  }

  /** All objects, and the uploads that publishers have not completed, because they were killed or are still working. */
  async list(): Promise<readonly ListedObject[]> {
    const listed: ListedObject[] = [];
    const query = { 'list-type': '2', prefix: this.#prefix, delimiter: '/' };
    const next = ({ texts }: S3Answer): Record<string, string> => ({
      'continuation-token': texts['NextContinuationToken'] ?? '',
    });
    for await (const page of this.#pages('ListBucketResult', query, next))
      for (const { Key = '', Size = '', LastModified = '' } of page.entries('Contents')) {
        const name = Key.startsWith(this.#prefix) ? Key.slice(this.#prefix.length) : '';
        if (isObjectName(name) || name === PROBE)
          listed.push({ name, size: Number(Size), modifiedMs: Date.parse(LastModified) });
      }
    const continuation = ({ texts }: S3Answer): Record<string, string> => ({
      'key-marker': texts['NextKeyMarker'] ?? '',
      'upload-id-marker': texts['NextUploadIdMarker'] ?? '',
    });
    for await (const page of this.#pages(
      'ListMultipartUploadsResult',
      { uploads: '', prefix: this.#prefix },
      continuation,
    ))
      for (const { Key = '', UploadId = '', Initiated = '' } of page.entries('Upload')) {
        const isOurs = Key.startsWith(this.#prefix) && isObjectName(Key.slice(this.#prefix.length));
        if (isOurs) listed.push({ name: `upload ${Key} ${UploadId}`, size: 0, modifiedMs: Date.parse(Initiated) });
      }
    return listed;
  }

  async remove(name: string): Promise<void> {
    const [, key, uploadId] = UPLOAD.exec(name) ?? [];
    if (key !== undefined && uploadId !== undefined) return abortUpload(this.#exchange, key, uploadId);
    await (await this.#send('DELETE', name, [200, 204, 404])).discard();
  }

  close(): Promise<void> {
    return this.#exchange.close();
  }

  #send(
    method: S3Request['method'],
    name: string,
    expected: readonly number[],
    options: Partial<S3Request> = {},
  ): Promise<ObjectAnswer> {
    return this.#exchange.send({ method, key: this.#prefix + name, expected, ...options });
  }

  /** Returns undefined for a missing object. Throws if the response says that the bucket does not exist either. */
  async #assertBucket(answer: ObjectAnswer): Promise<undefined> {
    const { Code } = readS3Answer(await answer.text(POINTER_BYTES_MAX))?.texts ?? {};
    if (Code === 'NoSuchBucket')
      throw targetError(this.name, 'answered 404 NoSuchBucket: make the bucket first, none is made here');
  }

  /**
   * Whether the server checks conditions. This is tested once. Throws OperationError `refused` if it must check them
   * but does not.
   */
  async #assertMinding(): Promise<boolean> {
    const isMinding = await (this.#isMinding ??= this.#checksConditions().catch((error: unknown) => {
      this.#isMinding = undefined;
      throw error;
    }));
    if (isMinding || this.#access.isUnconditional === true) return isMinding;
    const reason = 'the server ignores If-Match, so that two publishers could overwrite each other';
    const cure = 'make sure that only one publishes at a time, and use --s3-unconditional';
    throw new OperationError('refused', `${this.name}: ${reason}; ${cure}`);
  }

  async #checksConditions(): Promise<boolean> {
    const headers = { 'if-match': `"${'0'.repeat(32)}"` };
    const answer = await this.#send('PUT', PROBE, [200, 204, 400, 501, ...MINDS], { headers, body: new Uint8Array() });
    await answer.discard();
    if (MINDS.has(answer.status)) return true;
    if (answer.status < 300) await this.remove(PROBE);
    return false;
  }

  /** The pages of a list of the bucket. Throws OperationError `network` for an invalid response. */
  async *#pages(
    root: string,
    query: Readonly<Record<string, string>>,
    next: (page: S3Answer) => Readonly<Record<string, string>>,
  ): AsyncGenerator<S3Answer> {
    let from: Readonly<Record<string, string>> = {};
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const request = { method: 'GET', key: '', query: { ...query, ...from }, expected: [200] } as const;
      const page = readS3Answer(await this.#exchange.text(request));
      if (page?.root !== root) throw targetError(this.name, `answered no ${root}`);
      yield page;
      if (page.texts['IsTruncated'] !== 'true') return;
      const before = JSON.stringify(from);
      from = next(page);
      if (JSON.stringify(from) === before || Object.values(from)[0] === '') break;
    }
    throw targetError(this.name, `its ${root} does not end`);
  }
}

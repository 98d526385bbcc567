// A target in a bucket of an S3 server: objects below a prefix, the pointer replaced on the condition that it is still
// the one that was read. A server that ignores conditions is found out first. Who we are to it comes with `access`.
import { OperationError } from '../operationError.ts';
import { failed, type ObjectAnswer, rangeFrom, partAsked } from './httpExchange.ts';
import { encodePointer, isObjectName, type Pointer, POINTER_BYTES_MAX, POINTER_NAME } from './pointer.ts';
import { readS3Answer, type S3Answer } from './s3/answers.ts';
import { S3Exchange, type S3Request } from './s3/exchange.ts';
import { abortUpload, upload } from './s3/upload.ts';
import type { ListedObject, ObjectBytes, PointerText, PublishingTarget, S3Access } from './target.ts';
import { s3PrefixOf } from './targetUrl.ts';

/** A million objects: a list that goes on behind them is none. */
const PAGES_MAX = 1000;
/** The name of what is put on a condition that does not hold, to see whether the server minds. */
const PROBE = 'conditions.probe';
/** What a server may answer to that, if it does: it is another one, or it is none. */
const MINDS: ReadonlySet<number> = new Set([404, 409, 412]);
/** An upload that is under way or was left, in a list: its key and its id. */
const UPLOAD = /^upload ([^ ]+) (.+)$/;

/**
 * The folder of an `s3:` URL as a target. Asks nobody yet. Throws OperationError `usage` for half of the keys.
 */
export function s3Target(url: URL, timeoutMs: number, access: S3Access): PublishingTarget {
  const prefix = s3PrefixOf(url);
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
    const answer = await this.#send('GET', name, [200, 206, 404], { headers: rangeFrom(offset), signal });
    const found = partAsked(answer, offset);
    if (found) return found;
    if (answer.status === 404) return this.#assertBucket(answer);
    await answer.discard();
    throw failed(this.#exchange.urlOf(this.#prefix + name), `answered ${answer.status} with another part`);
  }

  async has(name: string, size: number): Promise<boolean> {
    const answer = await this.#send('HEAD', name, [200, 404]);
    await answer.discard();
    return answer.status === 200 && answer.header('content-length') === String(size);
  }

  async write(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await upload({ exchange: this.#exchange, key: this.#prefix + name, size, pieces });
  }

  async replacePointer(next: Pointer, found: PointerText | undefined): Promise<boolean> {
    const text = encodePointer(next);
    const body = new TextEncoder().encode(text);
    const isMinding = await this.#assertMinding();
    if (!isMinding && (await this.#pointerText()) !== found?.text) return false;
    if (found && found.validator === undefined) throw failed(this.name, `gives ${POINTER_NAME} no ETag`);
    const headers: Record<string, string> = found ? { 'if-match': found.validator! } : { 'if-none-match': '*' };
    const condition = isMinding ? headers : {};
    const answer = await this.#send('PUT', POINTER_NAME, [200, 204, 404, 409, 412], { headers: condition, body });
    await answer.discard();
    if (isMinding && answer.status < 300) return true;
    // An earlier attempt may have been heard and its answer lost.
    return (await this.#pointerText()) === text;
  }

  /** All objects; and uploads that are not complete, of publishers that were killed, or are not done. */
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
    const further = ({ texts }: S3Answer): Record<string, string> => ({
      'key-marker': texts['NextKeyMarker'] ?? '',
      'upload-id-marker': texts['NextUploadIdMarker'] ?? '',
    });
    for await (const page of this.#pages('ListMultipartUploadsResult', { uploads: '', prefix: this.#prefix }, further))
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
    more: Partial<S3Request> = {},
  ): Promise<ObjectAnswer> {
    return this.#exchange.send({ method, key: this.#prefix + name, expected, ...more });
  }

  /** Nothing is there; throws where the bucket is not there either, which a list tells. */
  async #assertBucket(answer: ObjectAnswer): Promise<undefined> {
    const { Code } = readS3Answer(await answer.text(POINTER_BYTES_MAX))?.texts ?? {};
    if (Code === 'NoSuchBucket')
      throw failed(this.name, 'answered 404 NoSuchBucket: make the bucket first, none is made here');
  }

  async #pointerText(): Promise<string | undefined> {
    const found = await this.readPointer(undefined, new AbortController().signal);
    return found === 'unchanged' ? undefined : found?.text;
  }

  /** Whether the server minds conditions, asked once. Throws OperationError `refused` where it must and does not. */
  async #assertMinding(): Promise<boolean> {
    const isMinding = await (this.#isMinding ??= this.#minds().catch((error: unknown) => {
      this.#isMinding = undefined;
      throw error;
    }));
    if (isMinding || this.#access.isUnconditional === true) return isMinding;
    const what = 'the server ignores If-Match, so that two publishers could overwrite each other';
    const cure = 'see to it that only one publishes at a time, and say --s3-unconditional';
    throw new OperationError('refused', `${this.name}: ${what}; ${cure}`);
  }

  async #minds(): Promise<boolean> {
    const headers = { 'if-match': `"${'0'.repeat(32)}"` };
    const answer = await this.#send('PUT', PROBE, [200, 204, 400, 501, ...MINDS], { headers, body: new Uint8Array() });
    await answer.discard();
    if (MINDS.has(answer.status)) return true;
    if (answer.status < 300) await this.remove(PROBE);
    return false;
  }

  /** The pages of a list of the bucket. Throws OperationError `network` for what is none. */
  async *#pages(
    root: string,
    query: Readonly<Record<string, string>>,
    next: (page: S3Answer) => Readonly<Record<string, string>>,
  ): AsyncGenerator<S3Answer> {
    let from: Readonly<Record<string, string>> = {};
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const asked = { method: 'GET', key: '', query: { ...query, ...from }, expected: [200] } as const;
      const page = readS3Answer(await this.#exchange.text(asked));
      if (page?.root !== root) throw failed(this.name, `answered no ${root}`);
      yield page;
      if (page.texts['IsTruncated'] !== 'true') return;
      const before = JSON.stringify(from);
      from = next(page);
      if (JSON.stringify(from) === before || Object.values(from)[0] === '') break;
    }
    throw failed(this.name, `its ${root} does not end`);
  }
}

// A target in a NATS JetStream cluster: objects in an object store, the pointer in a key-value store of the same name,
// replaced by compare-and-set. Publishers create both, replicas only read. The pieces of an object are requested one
// after another, because `get` of the library has no back-pressure: fetching 300 MB to a disk of 5 MB/s took 439 MB of
// memory.
import {
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  TimeoutError,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { readTextWithin } from '../files.ts';
import { OperationError } from '../operationError.ts';
import {
  encodePointer,
  isObjectName,
  type ListedObject,
  type NatsAccess,
  type ObjectBytes,
  type Pointer,
  POINTER_BYTES_MAX,
  POINTER_NAME,
  type PointerText,
  type PublishingTarget,
} from './target.ts';
import {
  DeliverPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  StorageType,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type ObjectInfo, type ObjectStore, Objm, setSha256Backend } from '@nats-io/obj';
import { setTimeout as wait } from 'node:timers/promises';
import { tlsFailureText } from '../tls.ts';
import { natsBucket } from './targetUrl.ts';

const FILE_BYTES_MAX = 1 << 16;
const PORT = '4222';

/**
 * Connection options: encrypted for `tls:`, and for `nats:` if the servers support it. Reads the files for every
 * connection, because they may have been replaced. Throws OperationError `file` and `input`.
 */
function natsAccessOptions(url: URL, { credentials, ca }: NatsAccess): ConnectionOptions {
  const isEncrypted = url.protocol === 'tls:' || ca !== undefined;
  return {
    servers: `${url.hostname}:${url.port || PORT}`,
    ...(isEncrypted && { tls: ca === undefined ? {} : { ca: readTextWithin(ca, FILE_BYTES_MAX) } }),
    ...(credentials !== undefined && { authenticator: makeAuthenticator(credentials) }),
  };
}

/** The content decides: credentials with a signed user, a seed, a user with a password, or a token. */
function makeAuthenticator(file: string): NonNullable<ConnectionOptions['authenticator']> {
  const text = readTextWithin(file, FILE_BYTES_MAX).replaceAll('\r\n', '\n').trim();
  const encoder = new TextEncoder();
  // The library requires a newline at the end.
  if (/^-+BEGIN NATS USER JWT-+\n/.test(text)) return credsAuthenticator(encoder.encode(`${text}\n`));
  if (/^SU[A-Z2-7]{56}$/.test(text)) return nkeyAuthenticator(encoder.encode(text));
  const [, user, password] = /^([^:\s]+):(\S+)$/.exec(text) ?? [];
  if (user !== undefined && password !== undefined) return usernamePasswordAuthenticator(user, password);
  if (/^[^:\s]+$/.test(text)) return tokenAuthenticator(text);
  throw new OperationError('input', `${file}: want NATS credentials, an nkey seed, user:password or a token`);
}

/** Time limit for one response. A cluster elects a leader in less, and a piece takes less at 52 kB/s. */
const REQUEST_MS = 10_000;
/** Interval between attempts to connect, and to watch. */
const RETRY_MS = 1000;
/** Bytes of a piece of an object, if the servers accept messages of that size. */
const PIECE_BYTES = 1 << 19;
/** Interval between heartbeats of a watch. After two that are missing, it starts again at another server. */
const HEARTBEAT_MS = 2000;
/** The subject of an object's info, without the prefix of the bucket. */
const INFO = /^M\.([\w=-]+)$/;
/** The subject of an object's pieces. */
const PIECES = /^C\.(\w+)$/;

// To publish 300 MB takes 6.0 s of CPU time with the library's SHA-256 in JavaScript, 1.5 s with that of Node.js.
setSha256Backend('native');

interface Stores {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly values: KV;
  readonly objects: ObjectStore;
}

/**
 * The bucket of a `nats:` or `tls:` URL as a target. Sends nothing yet. Throws OperationError `file` and `input` for
 * the files of `access`.
 */
export function natsTarget(url: URL, timeoutMs: number, access: NatsAccess): PublishingTarget {
  // Reads the files, to report an error in them at once.
  natsAccessOptions(url, access);
  return new NatsTarget(url, timeoutMs, access);
}

class NatsTarget implements PublishingTarget {
  readonly name: string;
  readonly #url: URL;
  readonly #bucket: string;
  readonly #stream: string;
  readonly #timeoutMs: number;
  readonly #access: NatsAccess;
  #stores: Promise<Stores> | undefined;
  #connection: NatsConnection | undefined;
  #isClosed = false;
  #stopWatch = (): void => undefined;

  constructor(url: URL, timeoutMs: number, access: NatsAccess) {
    this.name = url.href;
    this.#url = url;
    this.#bucket = natsBucket(url);
    this.#stream = `OBJ_${this.#bucket}`;
    this.#timeoutMs = timeoutMs;
    this.#access = access;
  }

  async readPointer(known: string | undefined, signal: AbortSignal): Promise<PointerText | 'unchanged' | undefined> {
    const entry = await this.#run(({ values }) => ignoreMissing(values.get(POINTER_NAME)), signal);
    if (entry?.operation !== 'PUT') return undefined;
    // The revisions of a bucket that was deleted and created again start at 1 again.
    const validator = `${entry.revision} ${entry.created.toISOString()}`;
    if (validator === known) return 'unchanged';
    if (entry.value.length <= POINTER_BYTES_MAX) return { text: entry.string(), validator };
    throw this.#failure(`${POINTER_NAME} has more than ${POINTER_BYTES_MAX} bytes`);
  }

  /** Always from the first byte on. */
  async read(name: string, _offset: number, signal: AbortSignal): Promise<ObjectBytes | undefined> {
    const info = await this.#run((stores) => findInfo(stores, name), signal);
    return info && { offset: 0, pieces: this.#pieces(info, signal) };
  }

  watch(onChange: () => void, signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.#stopWatch());
    void (async () => {
      while (!signal.aborted) {
        // The next poll reports why.
        await this.#watchOnce(onChange).catch(() => undefined);
        await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    })();
  }

  async has(name: string, size: number): Promise<boolean> {
    return this.#run(async (stores) => {
      const info = await findInfo(stores, name);
      // A publisher that gets no response to its last message removes the pieces, but the info may have been stored.
      return info?.size === size && (await this.#subjects(stores, `C.${info.nuid}`)).at(0)?.[1] === info.chunks;
    });
  }

  async write(name: string, _size: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#run(async ({ client }) => {
      const objects = await new Objm(client).create(this.#bucket, this.#storage());
      const meta = { name, options: { max_chunk_size: PIECE_BYTES } };
      await objects.put(meta, ReadableStream.from(pieces), { timeout: REQUEST_MS });
    });
  }

  async replacePointer(next: Pointer, expected: PointerText | undefined): Promise<boolean> {
    const text = encodePointer(next);
    const revision = Number.parseInt(expected?.validator ?? '0', 10);
    return this.#run(async ({ client }) => {
      const values = await new Kvm(client).create(this.#bucket, this.#storage());
      try {
        await (revision === 0 ? values.create(POINTER_NAME, text) : values.update(POINTER_NAME, text, revision));
        return true;
      } catch (error) {
        const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes;
        if (isApiError(error, StreamWrongLastSequence, StreamWrongLastSequenceUnknown)) return false;
        throw error;
      }
    });
  }

  /** All objects, and pieces without an info: their publisher is still writing, or was killed. */
  async list(): Promise<readonly ListedObject[]> {
    return this.#run(async (stores) => {
      const subjects = await this.#subjects(stores, '>');
      const listed: ListedObject[] = [];
      const complete = new Set<string>();
      for (const [subject] of subjects) {
        const encoded = INFO.exec(subject)?.[1];
        const info = encoded && (await findInfo(stores, Buffer.from(encoded, 'base64url').toString()));
        if (!info) continue;
        complete.add(info.nuid);
        if (isObjectName(info.name))
          listed.push({ name: info.name, size: info.size, modifiedMs: Date.parse(info.mtime) });
      }
      for (const [subject, count] of subjects) {
        const nuid = PIECES.exec(subject)?.[1];
        if (nuid === undefined || complete.has(nuid)) continue;
        const query = { last_by_subj: this.#subject(subject) };
        const last = await ignoreMissing(stores.manager.streams.getMessage(this.#stream, query));
        if (!last) continue;
        const size = (count - 1) * PIECE_BYTES + last.data.length;
        listed.push({ name: subject, size, modifiedMs: last.time.getTime() });
      }
      return listed;
    });
  }

  async remove(name: string): Promise<void> {
    await this.#run(async (stores) => {
      const { streams } = stores.manager;
      const info = isObjectName(name) ? await findInfo(stores, name) : undefined;
      // `delete` of the library would leave a message for each object that ever existed.
      if (info) await streams.deleteMessage(this.#stream, info.revision, false);
      const pieces = info ? `C.${info.nuid}` : name;
      if (PIECES.test(pieces)) await ignoreMissing(streams.purge(this.#stream, { filter: this.#subject(pieces) }));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  /** Runs requests, unless `signal` is aborted first. Throws OperationError `network`. */
  async #run<T>(work: (stores: Stores) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    try {
      return await Promise.race([this.#connectOnce().then(work), aborted.promise]);
    } catch (error) {
      throw this.#explain(error);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #explain(error: unknown): OperationError {
    if (error instanceof OperationError) return error;
    if (error instanceof TimeoutError) return this.#failure('no server answers in time', error);
    return this.#failure(tlsFailureText(error) ?? (error as Error).message, error);
  }

  #failure(reason: string, cause?: unknown): OperationError {
    return new OperationError('network', `${this.name}: ${reason}`, cause);
  }

  #connectOnce(): Promise<Stores> {
    this.#stores ??= this.#connect().catch((error: unknown) => {
      this.#stores = undefined;
      throw error;
    });
    return this.#stores;
  }

  /** Connects. The library connects again when a connection is lost, unless the servers refuse the credentials. */
  async #connect(): Promise<Stores> {
    const connection = await connect({
      ...natsAccessOptions(this.#url, this.#access),
      name: 'catalogue-replica',
      timeout: this.#timeoutMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RETRY_MS,
    });
    this.#connection = connection;
    try {
      if (this.#isClosed) throw this.#failure('is closed');
      const client = jetstream(connection, { timeout: REQUEST_MS, checkAPI: false });
      const stores = {
        client,
        manager: await client.jetstreamManager(),
        values: await new Kvm(client).open(this.#bucket),
        objects: await new Objm(client).open(this.#bucket, false),
      };
      void (async () => {
        for await (const { type } of connection.status()) if (type === 'disconnect') this.#stopWatch();
        this.#stores = undefined;
      })();
      return stores;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** For the two buckets, if they do not exist: an existing one stays as it is. */
  #storage(): { replicas: number; storage: StorageType } {
    return { replicas: this.#access.replicas ?? 1, storage: StorageType.File };
  }

  #subject(rest: string): string {
    return `$O.${this.#bucket}.${rest}`;
  }

  /** The subjects of the object store that match a pattern, without the prefix of the bucket, and their messages. */
  async #subjects({ manager }: Stores, pattern: string): Promise<readonly (readonly [string, number])[]> {
    const info = await ignoreMissing(manager.streams.info(this.#stream, { subjects_filter: this.#subject(pattern) }));
    const prefix = this.#subject('').length;
    return Object.entries(info?.state.subjects ?? {}).map(([subject, count]) => [subject.slice(prefix), count]);
  }

  async *#pieces({ nuid, chunks }: ObjectInfo, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let i = 0, seq = 1; i < chunks; i++) {
      const query = { seq, next_by_subj: this.#subject(`C.${nuid}`) };
      const piece = await this.#run(({ manager }) => manager.direct.getMessage(this.#stream, query), signal);
      if (!piece) return;
      yield piece.data;
      seq = piece.seq + 1;
    }
  }

  /**
   * Calls `onChange` for the pointer, for each later one, and when the server is lost, which ends the watch. `watch` of
   * the library's key-value store took 80 s to replace a server that was killed, and needs a permission for $JS.FC.
   */
  async #watchOnce(onChange: () => void): Promise<void> {
    const { client } = await this.#connectOnce();
    const subject = `$KV.${this.#bucket}.${POINTER_NAME}`;
    const options = { filter_subjects: subject, deliver_policy: DeliverPolicy.LastPerSubject };
    const consumer = await client.consumers.get(`KV_${this.#bucket}`, options);
    const messages = await consumer.consume({ idle_heartbeat: HEARTBEAT_MS });
    this.#stopWatch = () => messages.stop();
    void (async () => {
      for await (const { type } of messages.status()) if (type === 'heartbeats_missed') messages.stop();
    })();
    for await (const _ of messages) onChange();
    onChange();
  }
}

/** Returns undefined for a missing object. */
async function findInfo({ objects }: Stores, name: string): Promise<ObjectInfo | undefined> {
  const info = await ignoreMissing(objects.info(name));
  return info?.deleted === false ? info : undefined;
}

/** Returns undefined for a missing message or bucket. */
async function ignoreMissing<T>(answer: Promise<T | null>): Promise<T | undefined> {
  try {
    return (await answer) ?? undefined;
  } catch (error) {
    const { NoMessageFound, StreamNotFound } = JetStreamApiCodes;
    if (isApiError(error, NoMessageFound, StreamNotFound)) return undefined;
    throw error;
  }
}

function isApiError(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

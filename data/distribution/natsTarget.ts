// A target in a NATS JetStream cluster: objects in an object store, the pointer in a key-value store of the same name,
// replaced by compare-and-set. Publishers make both; a replica only reads, and is woken by a watch. The servers answer
// for what is stored and on how many of them; natsAccess.ts says who we are to them.
import {
  type Consumer,
  DeliverPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  StorageType,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type ObjectInfo, Objm, type ObjectStore } from '@nats-io/obj';
import { connect, type NatsConnection, TimeoutError } from '@nats-io/transport-node';
import { setTimeout as wait } from 'node:timers/promises';
import { OperationError } from '../operationError.ts';
import { tlsFailureText } from '../tls.ts';
import { natsAccessOptions } from './natsAccess.ts';
import { encodePointer, isObjectName, type Pointer, POINTER_BYTES_MAX, POINTER_NAME } from './pointer.ts';
import type { ListedObject, NatsAccess, ObjectBytes, PointerText, PublishingTarget } from './target.ts';
import { natsBucketOf } from './targetUrl.ts';

/** A cluster that chooses a leader anew may take so long to answer. */
const REQUEST_MS = 5000;
/** Connections that were lost are made again so soon, and a watch that ended. */
const AGAIN_MS = 1000;
/** An object is cut into pieces of so many bytes, or what the servers take at once. */
const CHUNK_BYTES = 1 << 17;
/** So many pieces may come before they are wanted: 2 MiB. */
const CHUNKS_AHEAD = 16;
/** Who sends messages says so often that it is there; what misses two is asked for anew, elsewhere. */
const HEARTBEAT_MS = 2000;
/** Messages are asked for again so often. */
const PULL_MS = 20_000;
/** An object's name in a subject. */
const NAMED = /^M\.([\w=-]+)$/;
/** The pieces that were put for an object, under a number of the publisher's making. */
const PIECES = /^C\.(\w+)$/;

/** A cluster that was reached, and what of it is used. */
interface Stores {
  readonly manager: JetStreamManager;
  readonly values: KV;
  readonly objects: ObjectStore;
}

/**
 * The bucket of a `nats:` or `tls:` URL as a target. Asks nobody yet, and connects again whenever it has to. Throws
 * OperationError `file` and `input` for the files of `access`.
 */
export function natsTarget(url: URL, timeoutMs: number, access: NatsAccess): PublishingTarget {
  // So that what is wrong in a file is told at once.
  natsAccessOptions(url, access);
  return new NatsTarget(url, natsBucketOf(url), timeoutMs, access);
}

class NatsTarget implements PublishingTarget {
  readonly name: string;
  readonly #url: URL;
  readonly #bucket: string;
  readonly #stream: string;
  readonly #timeoutMs: number;
  readonly #access: NatsAccess;
  #opening: Promise<Stores> | undefined;
  #connection: NatsConnection | undefined;
  #isMade = false;
  #isClosed = false;
  /** Ends what waits for messages, each of it. */
  readonly #stops = new Set<() => void>();

  constructor(url: URL, bucket: string, timeoutMs: number, access: NatsAccess) {
    this.name = url.href;
    this.#url = url;
    this.#bucket = bucket;
    this.#stream = `OBJ_${bucket}`;
    this.#timeoutMs = timeoutMs;
    this.#access = access;
  }

  async readPointer(known: string | undefined, signal: AbortSignal): Promise<PointerText | 'unchanged' | undefined> {
    const entry = await this.#ask(({ values }) => orNone(values.get(POINTER_NAME)), signal);
    if (entry?.operation !== 'PUT') return undefined;
    // The time too, since a bucket that is made anew counts from 1 again.
    const validator = `${entry.revision} ${entry.created.toISOString()}`;
    if (validator === known) return 'unchanged';
    if (entry.value.length <= POINTER_BYTES_MAX) return { text: entry.string(), validator };
    throw this.#failed(`${POINTER_NAME} has more than ${POINTER_BYTES_MAX} bytes`);
  }

  async read(name: string, offset: number, signal: AbortSignal): Promise<ObjectBytes | undefined> {
    const info = await this.#ask((stores) => infoOf(stores, name), signal);
    if (!info) return undefined;
    if (info.chunks === 0) return { offset: 0, pieces: ReadableStream.from<Uint8Array>([]) };
    const chunkBytes = info.options?.max_chunk_size ?? CHUNK_BYTES;
    const skipped = Math.min(Math.floor(offset / chunkBytes), info.chunks - 1);
    const { consumer, left } = await this.#ask((stores) => this.#piecesFrom(stores, info, skipped), signal);
    const start = (info.chunks - left) * chunkBytes;
    if (!Number.isSafeInteger(start) || start < 0 || start > offset || left === 0)
      throw this.#failed(`${name} has ${left} pieces left, expected ${info.chunks - skipped}`);
    return { offset: start, pieces: this.#pieces(consumer, signal) };
  }

  watch(onChange: () => void, signal: AbortSignal): void {
    void (async () => {
      let isWatched = true;
      const told = (): void => {
        isWatched = true;
        onChange();
      };
      while (!signal.aborted) {
        await this.#watchOnce(told, signal).catch(() => {
          // A question for the pointer finds out why, which a long poll would put off: one question, not one each time.
          if (isWatched) onChange();
          isWatched = false;
        });
        await wait(AGAIN_MS, undefined, { signal }).catch(() => undefined);
      }
    })();
  }

  async has(name: string, size: number): Promise<boolean> {
    return this.#ask(async (stores) => {
      const info = await infoOf(stores, name);
      return info?.size === size && (await this.#counted(stores, `C.${info.nuid}`)).at(0)?.[1] === info.chunks;
    });
  }

  async write(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#make();
    const what = { name, options: { max_chunk_size: CHUNK_BYTES } };
    await this.#ask(async (stores) => {
      // One that somebody removed has its mark there, which the next one follows.
      const previousRevision = (await orNone(stores.objects.info(name)))?.revision ?? 0;
      const rest = pieces[Symbol.asyncIterator]();
      const source = ReadableStream.from({ [Symbol.asyncIterator]: () => rest });
      try {
        const put = stores.objects.put(what, source, { timeout: REQUEST_MS, previousRevision });
        if (await put.catch(unlessQuicker)) return;
        // Its name is that of its content; but who was quicker may be an attempt of before, whose pieces are gone.
        if (!(await this.has(name, size))) throw this.#failed(`${name} was put meanwhile, but is not whole`);
      } finally {
        // What was not read is not left open.
        await rest.return?.();
      }
    });
  }

  async replacePointer(next: Pointer, found: PointerText | undefined): Promise<boolean> {
    await this.#make();
    const text = encodePointer(next);
    const revision = Number.parseInt(found?.validator ?? '0', 10);
    return this.#ask(async ({ values }) => {
      const put = revision === 0 ? values.create(POINTER_NAME, text) : values.update(POINTER_NAME, text, revision);
      return (await put.catch(unlessQuicker)) !== undefined;
    });
  }

  /** All objects, and pieces without one, which a publisher leaves that was killed, or is not done. */
  async list(): Promise<readonly ListedObject[]> {
    return this.#ask(async (stores) => {
      const counted = await this.#counted(stores, '>');
      const listed: ListedObject[] = [];
      const whole = new Set<string>();
      for (const [subject] of counted) {
        const encoded = NAMED.exec(subject)?.[1];
        const info = encoded && (await infoOf(stores, Buffer.from(encoded, 'base64url').toString()));
        if (!info) continue;
        whole.add(info.nuid);
        if (isObjectName(info.name))
          listed.push({ name: info.name, size: info.size, modifiedMs: Date.parse(info.mtime) });
      }
      for (const [subject, count] of counted) {
        const number = PIECES.exec(subject)?.[1];
        if (number === undefined || whole.has(number)) continue;
        const lastBySubject = { last_by_subj: this.#subject(subject) };
        const last = await orNone(stores.manager.streams.getMessage(this.#stream, lastBySubject));
        if (!last) continue;
        const size = (count - 1) * CHUNK_BYTES + last.data.length;
        listed.push({ name: subject, size, modifiedMs: last.time.getTime() });
      }
      return listed;
    });
  }

  async remove(name: string): Promise<void> {
    await this.#ask(async (stores) => {
      const { streams } = stores.manager;
      const info = isObjectName(name) ? await infoOf(stores, name) : undefined;
      // By its number: what was put in its place meanwhile stays.
      if (info) await streams.deleteMessage(this.#stream, info.revision, false);
      const pieces = info ? `C.${info.nuid}` : name;
      if (PIECES.test(pieces)) await orNone(streams.purge(this.#stream, { filter: this.#subject(pieces) }));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  /** What the servers answer, unless `signal` is aborted first. Throws OperationError `network`. */
  async #ask<T>(work: (stores: Stores) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const answer = this.#stores().then(work);
    try {
      if (!signal) return await answer;
      const { promise, reject } = Promise.withResolvers<never>();
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      return await Promise.race([answer, promise]).finally(() => signal.removeEventListener('abort', onAbort));
    } catch (error) {
      throw this.#told(error);
    }
  }

  #told(error: unknown): OperationError {
    if (error instanceof OperationError) return error;
    if (error instanceof TimeoutError) return this.#failed('no server answers in time', error);
    return this.#failed(tlsFailureText(error) ?? (error as Error).message, error);
  }

  #failed(why: string, cause?: unknown): OperationError {
    return new OperationError('network', `${this.name}: ${why}`, cause);
  }

  /** The cluster; connects unless it is connected, or about to be again. */
  async #stores(): Promise<Stores> {
    if (this.#isClosed) throw this.#failed('is not asked any more');
    if (this.#opening) return this.#opening;
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    const opening = this.#open(forget);
    this.#opening = opening;
    return opening.catch((error: unknown) => {
      forget();
      throw error;
    });
  }

  /** Connects. `onEnd` is called when that is over for good, as when credentials are not good any more. */
  async #open(onEnd: () => void): Promise<Stores> {
    const connection = await connect({
      ...natsAccessOptions(this.#url, this.#access),
      name: 'catalogue-replica',
      timeout: this.#timeoutMs,
      maxReconnectAttempts: -1,
      reconnectDelayHandler: waitsBetweenTries(),
    });
    this.#connection = connection;
    void (async () => {
      const stop = (): void => [...this.#stops].forEach((one) => one());
      for await (const { type } of connection.status()) if (type === 'disconnect') stop();
      onEnd();
      stop();
    })();
    try {
      if (this.#isClosed) throw this.#failed('is not asked any more');
      const streams = jetstream(connection, { timeout: REQUEST_MS, checkAPI: false });
      return {
        manager: await streams.jetstreamManager(),
        values: await new Kvm(streams).open(this.#bucket),
        objects: await new Objm(streams).open(this.#bucket, false),
      };
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Makes what does not exist yet; what exists stays as it is. */
  async #make(): Promise<void> {
    if (this.#isMade) return;
    const options = { replicas: this.#access.replicas ?? 1, storage: StorageType.File };
    await this.#ask(async ({ manager }) => {
      const streams = manager.jetstream();
      await new Objm(streams).create(this.#bucket, { ...options });
      await new Kvm(streams).create(this.#bucket, { ...options });
    });
    this.#isMade = true;
  }

  #subject(rest: string): string {
    return `$O.${this.#bucket}.${rest}`;
  }

  /** How many messages lie under the subjects of the object store that fit a pattern. */
  async #counted({ manager }: Stores, pattern: string): Promise<readonly (readonly [string, number])[]> {
    const found = await orNone(manager.streams.info(this.#stream, { subjects_filter: this.#subject(pattern) }));
    const prefix = this.#subject('').length;
    return Object.entries(found?.state.subjects ?? {}).map(([subject, count]) => [subject.slice(prefix), count]);
  }

  /** Who reads the pieces of an object, from one that is no later than asked for, and how many are left from there. */
  async #piecesFrom(
    { manager }: Stores,
    { nuid }: ObjectInfo,
    skipped: number,
  ): Promise<{ consumer: Consumer; left: number }> {
    const subject = this.#subject(`C.${nuid}`);
    const query = { next_by_subj: subject, seq: 1 };
    // Where it is not told, all come.
    const first = skipped > 0 && (await manager.direct.getMessage(this.#stream, query).catch(() => undefined));
    // Those of others may lie between: then it is an earlier one.
    const options = { filter_subjects: subject, opt_start_seq: first ? first.seq + skipped : 1 };
    const consumer = await manager.jetstream().consumers.get(this.#stream, options);
    return { consumer, left: (await consumer.info(true)).num_pending };
  }

  async *#pieces(consumer: Consumer, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      for await (const message of this.#messages(consumer, signal)) {
        yield message.data;
        if (message.info.pending === 0) return;
      }
      signal.throwIfAborted();
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** Messages, of which a few may wait, until `signal` is aborted, the connection is lost or nobody sends any more. */
  async *#messages(consumer: Consumer, signal: AbortSignal): AsyncGenerator<JsMsg> {
    const options = { max_messages: CHUNKS_AHEAD, expires: PULL_MS, idle_heartbeat: HEARTBEAT_MS };
    const messages = await consumer.consume(options);
    const stop = (): void => messages.stop();
    this.#stops.add(stop);
    signal.addEventListener('abort', stop, { once: true });
    void (async () => {
      for await (const { type } of messages.status()) if (type === 'heartbeats_missed') stop();
    })();
    try {
      if (!signal.aborted) yield* messages;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#stops.delete(stop);
      stop();
      // It would go by itself, later.
      void consumer.delete().catch(() => undefined);
    }
  }

  async #watchOnce(onChange: () => void, signal: AbortSignal): Promise<void> {
    const { manager } = await this.#stores();
    const options = { filter_subjects: `$KV.${this.#bucket}.${POINTER_NAME}`, deliver_policy: DeliverPolicy.New };
    const consumer = await manager.jetstream().consumers.get(`KV_${this.#bucket}`, options);
    // For what was published before; and when it ends, for the question that finds out why.
    onChange();
    for await (const _ of this.#messages(consumer, signal)) onChange();
    onChange();
  }
}

/**
 * How long the library is to wait since it tried a server last. It looks at the time of day, so that a clock that went
 * back by a day would keep it from all servers for a day: a try is due whenever AGAIN_MS have passed by a timer.
 */
function waitsBetweenTries(): () => number {
  let isDue = true;
  return () => {
    if (!isDue) return AGAIN_MS;
    isDue = false;
    setTimeout(() => (isDue = true), AGAIN_MS).unref();
    return -Infinity;
  };
}

/** An object that is there, whole as far as its publisher knew. */
async function infoOf({ objects }: Stores, name: string): Promise<ObjectInfo | undefined> {
  const info = await orNone(objects.info(name));
  return info?.deleted === false ? info : undefined;
}

/** Undefined where there is no such message, or no such bucket. */
async function orNone<T>(answer: Promise<T | null>): Promise<T | undefined> {
  try {
    return (await answer) ?? undefined;
  } catch (error) {
    const { NoMessageFound, StreamNotFound } = JetStreamApiCodes;
    if (isApiError(error, NoMessageFound, StreamNotFound)) return undefined;
    throw error;
  }
}

/** Undefined where somebody else has put something in that place meanwhile. */
function unlessQuicker(error: unknown): undefined {
  const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes;
  if (!isApiError(error, StreamWrongLastSequence, StreamWrongLastSequenceUnknown)) throw error;
}

function isApiError(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

// The contract of targets: immutable objects and one pointer, through which one publisher supplies many replicas.
import { isObject } from '../../engine/bits/json.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { OperationError } from '../operationError.ts';
import type { HeldFile } from '../store/load.ts';

export const POINTER_NAME = 'current.json';

/** Longer than any pointer. No more bytes are read. */
export const POINTER_BYTES_MAX = 1 << 16;

const FORMAT = 1;
/** Earlier generations in a pointer, for `prune`. */
const EARLIER_MAX = 32;
/** More base URLs than any catalogue has. */
export const BLOCKS_MAX = 16;
/** A terabyte, longer than any snapshot. */
const SIZE_MAX = 2 ** 40;

/**
 * An immutable object of a target: its SHA-256 in lower-case hexadecimal, which is also its name, and its size in
 * bytes.
 */
export interface StoredObject {
  readonly sha256: string;
  readonly size: number;
}

/** Compressed records for a base URL. `address` is the hash of that URL (blockStore.ts). */
interface StoredBlocks extends StoredObject {
  readonly address: string;
}

/** The objects of an earlier generation, for prune. */
interface EarlierGeneration {
  readonly generation: string;
  readonly objects: readonly string[];
}

/** The data that replicas serve: a snapshot and the objects that belong to it. */
export interface Pointer extends StoredObject {
  /** Counts the pointers of a target, so that their order needs no clock. */
  readonly sequence: number;
  readonly generation: string;
  /** The time of the data. */
  readonly created: string | undefined;
  /** When the publisher last began to compare the data with the catalogue, if it does. */
  readonly refreshed: string | undefined;
  /** Records by collection. */
  readonly counts: Readonly<Record<string, number>>;
  readonly blocks: readonly StoredBlocks[];
  /** The change feed, if the publisher has a change log. */
  readonly changes?: StoredObject | undefined;
  /** The generations before, newest first. */
  readonly earlier: readonly EarlierGeneration[];
}

const OBJECT_NAME = /^[0-9a-f]{64}\.(?:snapshot|deflate|changes)$/;

export function isObjectName(name: string): boolean {
  return OBJECT_NAME.test(name);
}

export function snapshotName({ sha256 }: StoredObject): string {
  return `${sha256}.snapshot`;
}

export function blocksName({ sha256 }: StoredObject): string {
  return `${sha256}.deflate`;
}

export function changesName({ sha256 }: StoredObject): string {
  return `${sha256}.changes`;
}

export function objectNames(pointer: Pointer): readonly string[] {
  const changes = pointer.changes ? [changesName(pointer.changes)] : [];
  return [snapshotName(pointer), ...pointer.blocks.map(blocksName), ...changes];
}

/** The pointer that follows `before` in a target, or the first one. */
export function nextPointer(next: Omit<Pointer, 'sequence' | 'earlier'>, before: Pointer | undefined): Pointer {
  if (!before) return { ...next, sequence: 1, earlier: [] };
  const last = { generation: before.generation, objects: objectNames(before) };
  const others = [last, ...before.earlier].filter(({ generation }) => generation !== next.generation);
  return { ...next, sequence: before.sequence + 1, earlier: others.slice(0, EARLIER_MAX) };
}

/**
 * The next pointer to the same objects, with the time when they were last compared with the catalogue. Without
 * `refreshed`, the same pointer.
 */
export function withRefreshTime(pointer: Pointer, refreshed: string | undefined): Pointer {
  return refreshed === undefined ? pointer : { ...pointer, sequence: pointer.sequence + 1, refreshed };
}

/** Whether the data of `a` is older than that of `b`. False if one of them has no time. */
export function isOlderData(a: Pick<Pointer, 'created'>, b: Pick<Pointer, 'created'>): boolean {
  if (a.created === undefined || b.created === undefined) return false;
  return parseInstant(a.created) < parseInstant(b.created);
}

/** The milliseconds from a refresh to `nowMs`, which counts from 1970; 0 if the refresh is in the future. */
export function refreshedAgoMs(refreshed: string, nowMs: number): number {
  return Math.max(0, nowMs - parseInstant(refreshed) / 1000);
}

/** The text of a pointer. Equal pointers have equal texts. */
export function encodePointer(pointer: Pointer): string {
  const { generation, sequence, created = null, refreshed = null, sha256, size, counts, earlier } = pointer;
  const blocks = pointer.blocks.map((block) => ({ address: block.address, sha256: block.sha256, size: block.size }));
  const changes = pointer.changes && { sha256: pointer.changes.sha256, size: pointer.changes.size };
  const objects = { sha256, size, counts, blocks, changes };
  const members = { format: FORMAT, generation, sequence, created, refreshed, ...objects, earlier };
  return `${JSON.stringify(members, null, 2)}\n`;
}

/**
 * Parses the text of a pointer, which has at most POINTER_BYTES_MAX. Throws OperationError `snapshot` with `from`, what
 * was found and what was expected.
 */
export function decodePointer(text: string, from: string): Pointer {
  const refuse = (reason: string): never => {
    throw new OperationError('snapshot', `${from}: ${POINTER_NAME} ${reason}`);
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return refuse(`is no JSON: ${(error as Error).message}`);
  }
  if (!isObject(json)) return refuse('is no object');
  const { format, sequence, generation, created, counts } = json;
  // Older publishers did not write it.
  const { refreshed = null } = json;
  if (format !== FORMAT) return refuse(`has format ${formatText(format)}, expected ${FORMAT}`);
  if (!isCount(sequence) || sequence === 0) return refuse('/sequence: expected a number from 1');
  if (!isHash(generation)) return refuse('/generation: expected 64 hexadecimal digits');
  if (created !== null && !isTime(created)) return refuse(`/created: ${TIME_WANTED}`);
  if (refreshed !== null && !isTime(refreshed)) return refuse(`/refreshed: ${TIME_WANTED}`);
  if (!isObject(counts) || !Object.values(counts).every(isCount))
    return refuse('/counts: expected numbers of records by collection');
  const { blocks, changes, earlier } = json;
  if (!isStored(json)) return refuse('/sha256 and /size: expected 64 hexadecimal digits and a number of bytes');
  if (!Array.isArray(blocks) || blocks.length > BLOCKS_MAX || !blocks.every(isStoredBlocks))
    return refuse(`/blocks: expected at most ${BLOCKS_MAX} with address, sha256 and size`);
  if (changes !== undefined && !isStored(changes)) return refuse('/changes: expected sha256 and size');
  if (!Array.isArray(earlier) || earlier.length > EARLIER_MAX || !earlier.every(isEarlier))
    return refuse(`/earlier: expected at most ${EARLIER_MAX} with generation and objects`);
  return {
    sequence,
    generation,
    sha256: json.sha256,
    size: json.size,
    created: created ?? undefined,
    refreshed: refreshed ?? undefined,
    counts: counts as Readonly<Record<string, number>>,
    blocks: blocks.map(({ address, sha256, size }) => ({ address, sha256, size })),
    changes: changes && { sha256: changes.sha256, size: changes.size },
    earlier: earlier.map((generation) => ({ generation: generation.generation, objects: generation.objects })),
  };
}

/** A short text for any value: another format may have a deeply nested one. */
function formatText(format: unknown): string {
  return typeof format === 'number' || typeof format === 'string' ? JSON.stringify(format).slice(0, 64) : typeof format;
}

const TIME_WANTED = 'expected a time such as "2026-01-31T00:00:00Z", or null';

function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && !Number.isNaN(parseInstant(value));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isStored(value: unknown): value is StoredObject {
  return isObject(value) && isHash(value['sha256']) && isCount(value['size']) && value['size'] <= SIZE_MAX;
}

function isStoredBlocks(value: unknown): value is StoredBlocks {
  if (!isStored(value)) return false;
  const { address } = value as Partial<Record<keyof StoredBlocks, unknown>>;
  return typeof address === 'string' && /^[0-9a-f]{8}$/.test(address);
}

function isEarlier(value: unknown): value is EarlierGeneration {
  if (!isObject(value) || !isHash(value['generation'])) return false;
  const { objects } = value;
  return (
    Array.isArray(objects) &&
    objects.length <= BLOCKS_MAX + 2 &&
    objects.every((name) => typeof name === 'string' && isObjectName(name))
  );
}

/** The text of a pointer, and a validator that changes with it, if the target has one. */
export interface PointerText {
  readonly text: string;
  readonly validator: string | undefined;
}

/** Reads the pointer, whatever was read before; undefined if nothing is published. Throws as `readPointer` does. */
export async function readCurrent(target: Pick<Target, 'readPointer'>): Promise<PointerText | undefined> {
  const pointer = await target.readPointer(undefined, new AbortController().signal);
  return pointer === 'unchanged' ? undefined : pointer;
}

/**
 * A target as replicas use it. `name` is for messages and contains no secret. All methods throw OperationError
 * `network` or `file` if the target cannot be reached. An aborted `signal` stops them.
 */
export interface Target {
  readonly name: string;
  /** Reads the pointer. Returns `unchanged` if it still has this validator, and undefined if there is no pointer. */
  readPointer(known: string | undefined, signal: AbortSignal): Promise<PointerText | 'unchanged' | undefined>;
  /**
   * The bytes of an object from `offset` on, or from an earlier offset, which is in the result; undefined if the object
   * does not exist. Neither the bytes nor their number have been verified.
   */
  read(name: string, offset: number, signal: AbortSignal): Promise<ObjectBytes | undefined>;
  /**
   * Makes `file` a hard link to an object of this size. Returns false if that is impossible, for example between two
   * file systems. Absent if objects are not files.
   */
  link?(name: string, size: number, file: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Calls `onChange` soon after each new pointer, and when the connection to the target is lost or restored, until
   * `signal` is aborted. Absent if the target cannot send notifications.
   */
  watch?(onChange: () => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

/** Bytes of an object. The first one is at `offset`. */
export interface ObjectBytes {
  readonly offset: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** An object of a target. `modifiedMs` is when it was written, in milliseconds since 1970. */
export interface ListedObject {
  readonly name: string;
  readonly size: number;
  readonly modifiedMs: number;
}

export interface PublishingTarget extends Target {
  /** Whether the target has the complete object. */
  has(name: string, size: number): Promise<boolean>;
  /**
   * Writes an object, which appears completely and durably or not at all. An existing object may be replaced by its own
   * bytes. If `pieces` throws, nothing appears.
   */
  write(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Makes an object a hard link to an open file, which must never be written to again. Returns false if that is
   * impossible. Absent if objects are not files.
   */
  adopt?(name: string, held: HeldFile): Promise<boolean>;
  /** Replaces the pointer that was read by the next one. Returns false if another publisher was faster. */
  replacePointer(next: Pointer, expected: PointerText | undefined): Promise<boolean>;
  /** All objects, and incomplete remains of killed publishers, whose names are not object names. */
  list(): Promise<readonly ListedObject[]>;
  /** Removes an object if it exists. */
  remove(name: string): Promise<void>;
}

/**
 * Access to a NATS cluster: files with the credentials and with the authorities of its certificates, and the number of
 * replicas of a bucket that publishing creates.
 */
export interface NatsAccess {
  readonly credentials?: string | undefined;
  readonly ca?: string | undefined;
  readonly replicas?: number | undefined;
}

/** Keys of an S3 server from the environment; '' if a variable is not set. */
export interface S3Keys {
  readonly id: string;
  readonly secret: string;
  readonly token: string;
}

/**
 * A service that issues keys for the token in a file; '' for none. With a role and the name of a session it is an STS
 * server, otherwise the endpoint of a container.
 */
export interface KeyService {
  readonly url: string;
  readonly tokenFile: string;
  readonly role?: { readonly arn: string; readonly session: string };
}

/** Access to an S3 server. */
export interface S3Access {
  /** Default: AWS. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** Whether the bucket is in the path or in the host name. Default: path if `endpoint` is set. */
  readonly addressing?: 'path' | 'host' | undefined;
  /** Anonymous if not set. */
  readonly keys?: S3Keys | undefined;
  /** The source of keys that expire, for a process without `keys`. */
  readonly keyService?: KeyService | undefined;
  /** Publishes even if the server ignores conditions. */
  readonly isUnconditional?: boolean | undefined;
}

/** Credentials for targets that require them, and a PEM file of trusted authorities. */
export interface TargetAccess {
  readonly ca?: string | undefined;
  readonly nats?: NatsAccess;
  readonly s3?: S3Access;
}

/** How long a target may take to respond, or to send its next bytes. */
export interface TargetOptions extends TargetAccess {
  readonly timeoutMs: number;
}

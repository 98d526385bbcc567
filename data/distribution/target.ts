// The contract of targets: immutable objects and one pointer, by which many machines get snapshots from one.
import { isObject } from '../../engine/bits/json.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { OperationError } from '../operationError.ts';
import type { HeldFile } from '../store/load.ts';

export const POINTER_NAME = 'current.json';

/** No pointer is longer: nothing beyond is read. */
export const POINTER_BYTES_MAX = 1 << 16;

const FORMAT = 1;
/** So many generations before the current one are named, for `prune`. */
const EARLIER_MAX = 32;
/** More base URLs than any catalogue has. */
export const BLOCKS_MAX = 16;
/** A terabyte: what is longer is no snapshot. */
const SIZE_MAX = 2 ** 40;

/** An immutable object of a target: its SHA-256 in lower-case hexadecimal, which names it, and its bytes. */
export interface StoredObject {
  readonly sha256: string;
  readonly size: number;
}

/** Records compressed for a base URL, of which `address` is the hash that names them (blockStore.ts). */
interface StoredBlocks extends StoredObject {
  readonly address: string;
}

/** What prune needs to know of a generation that was current before. */
interface EarlierGeneration {
  readonly generation: string;
  readonly objects: readonly string[];
}

/**
 * What replicas are to serve: a snapshot and its compressed records. `sequence` counts the pointers of a target, so
 * that their order needs no clock; `created` is the time of the data, `refreshed` when its publisher last began to
 * compare it with the catalogue, unless it never does; `counts` are records by collection, `earlier` the generations
 * before, the newest first.
 */
export interface Pointer extends StoredObject {
  readonly sequence: number;
  readonly generation: string;
  readonly created: string | undefined;
  readonly refreshed: string | undefined;
  readonly counts: Readonly<Record<string, number>>;
  readonly blocks: readonly StoredBlocks[];
  readonly earlier: readonly EarlierGeneration[];
}

const OBJECT_NAME = /^[0-9a-f]{64}\.(?:snapshot|deflate)$/;

export function isObjectName(name: string): boolean {
  return OBJECT_NAME.test(name);
}

export function snapshotName({ sha256 }: StoredObject): string {
  return `${sha256}.snapshot`;
}

export function blocksName({ sha256 }: StoredObject): string {
  return `${sha256}.deflate`;
}

export function objectsOf(pointer: Pointer): readonly string[] {
  return [snapshotName(pointer), ...pointer.blocks.map(blocksName)];
}

/** The pointer that follows another one in a target, or is its first. */
export function following(next: Omit<Pointer, 'sequence' | 'earlier'>, before: Pointer | undefined): Pointer {
  if (!before) return { ...next, sequence: 1, earlier: [] };
  const last = { generation: before.generation, objects: objectsOf(before) };
  const others = [last, ...before.earlier].filter(({ generation }) => generation !== next.generation);
  return { ...next, sequence: before.sequence + 1, earlier: others.slice(0, EARLIER_MAX) };
}

/**
 * The pointer that follows another one of the same objects, which its publisher found to be current at a time; that one
 * where it says no time.
 */
export function refreshedAgain(pointer: Pointer, refreshed: string | undefined): Pointer {
  return refreshed === undefined ? pointer : { ...pointer, sequence: pointer.sequence + 1, refreshed };
}

/** Whether the data of a pointer is older than that of another, by the times that both name; else it is not. */
export function isOlderData(a: Pick<Pointer, 'created'>, b: Pick<Pointer, 'created'>): boolean {
  if (a.created === undefined || b.created === undefined) return false;
  return parseInstant(a.created) < parseInstant(b.created);
}

/** How long before `nowMs`, since 1970, the time of a refresh was, in milliseconds; 0 for one that is still to come. */
export function refreshedAgoMs(refreshed: string, nowMs: number): number {
  return Math.max(0, nowMs - parseInstant(refreshed) / 1000);
}

/** The text of a pointer; equal pointers have one text. */
export function encodePointer(pointer: Pointer): string {
  const { generation, sequence, created = null, refreshed = null, sha256, size, counts, earlier } = pointer;
  const blocks = pointer.blocks.map((one) => ({ address: one.address, sha256: one.sha256, size: one.size }));
  const members = { format: FORMAT, generation, sequence, created, refreshed, sha256, size, counts, blocks, earlier };
  return `${JSON.stringify(members, null, 2)}\n`;
}

/**
 * The pointer in a text of at most POINTER_BYTES_MAX. Throws OperationError `snapshot` with `from`, what was found and
 * what was expected.
 */
export function decodePointer(text: string, from: string): Pointer {
  const refused = (what: string): never => {
    throw new OperationError('snapshot', `${from}: ${POINTER_NAME} ${what}`);
  };
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    return refused(`is no JSON: ${(error as Error).message}`);
  }
  if (!isObject(found)) return refused('is no object');
  const { format, sequence, generation, created, counts } = found;
  // Publishers of before it was there wrote none.
  const { refreshed = null } = found;
  if (format !== FORMAT) return refused(`has format ${formatText(format)}, expected ${FORMAT}`);
  if (!isCount(sequence) || sequence === 0) return refused('/sequence: expected a number from 1');
  if (!isHash(generation)) return refused('/generation: expected 64 hexadecimal digits');
  if (created !== null && !isTime(created)) return refused(`/created: ${TIME_WANTED}`);
  if (refreshed !== null && !isTime(refreshed)) return refused(`/refreshed: ${TIME_WANTED}`);
  if (!isObject(counts) || !Object.values(counts).every(isCount))
    return refused('/counts: expected numbers of records by collection');
  const { blocks, earlier } = found;
  if (!isStored(found)) return refused('/sha256 and /size: expected 64 hexadecimal digits and a number of bytes');
  if (!Array.isArray(blocks) || blocks.length > BLOCKS_MAX || !blocks.every(isStoredBlocks))
    return refused(`/blocks: expected at most ${BLOCKS_MAX} with address, sha256 and size`);
  if (!Array.isArray(earlier) || earlier.length > EARLIER_MAX || !earlier.every(isEarlier))
    return refused(`/earlier: expected at most ${EARLIER_MAX} with generation and objects`);
  return {
    sequence,
    generation,
    sha256: found.sha256,
    size: found.size,
    created: created ?? undefined,
    refreshed: refreshed ?? undefined,
    counts: counts as Readonly<Record<string, number>>,
    blocks: blocks.map(({ address, sha256, size }) => ({ address, sha256, size })),
    earlier: earlier.map((one) => ({ generation: one.generation, objects: one.objects })),
  };
}

/** Of another format all may be other, and as deep as it is long. */
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
    objects.length <= BLOCKS_MAX + 1 &&
    objects.every((name) => typeof name === 'string' && isObjectName(name))
  );
}

/** A pointer as it stands, and what tells it from the next one; undefined where nothing does. */
export interface PointerText {
  readonly text: string;
  readonly validator: string | undefined;
}

/**
 * What a replica asks of a target. `name` is for people and holds no secret. All of it throws OperationError `network`
 * or `file` where the target cannot be asked; a `signal` that is aborted ends what waits.
 */
export interface Target {
  readonly name: string;
  /** The pointer; `unchanged` where it is still the one of this validator, undefined where there is none. */
  readPointer(known: string | undefined, signal: AbortSignal): Promise<PointerText | 'unchanged' | undefined>;
  /**
   * The bytes of an object from `offset` on, or from an earlier one, which is told; undefined where there is none. What
   * comes is judged by nobody yet, nor how much.
   */
  read(name: string, offset: number, signal: AbortSignal): Promise<ObjectBytes | undefined>;
  /**
   * Makes `file` a hard link to an object of this size, without a copy. Returns false if that is impossible, as between
   * two file systems. Absent if objects are not files.
   */
  link?(name: string, size: number, file: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Calls `onChange` soon after each new pointer, and when the target was lost or found again, until `signal` is
   * aborted; absent where a target cannot tell.
   */
  watch?(onChange: () => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

/** Bytes of an object, the first of which is the one at `offset`. */
export interface ObjectBytes {
  readonly offset: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** An object of a target. `modifiedMs` is when it was put there, in milliseconds since 1970. */
export interface ListedObject {
  readonly name: string;
  readonly size: number;
  readonly modifiedMs: number;
}

export interface PublishingTarget extends Target {
  /** Whether an object is there, whole. */
  has(name: string, size: number): Promise<boolean>;
  /**
   * Puts an object, which appears whole and lastingly or not at all; one that is there already may be replaced by its
   * own bytes. `pieces` may throw, and then nothing appears.
   */
  write(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Makes an object a hard link to an open file, which must never be written to again. Returns false if that is
   * impossible. Absent if objects are not files.
   */
  adopt?(name: string, held: HeldFile): Promise<boolean>;
  /** Replaces the pointer that was found by the one that follows it; false where another publisher was quicker. */
  replacePointer(next: Pointer, found: PointerText | undefined): Promise<boolean>;
  /** All objects; and what publishers left of some that were killed, under names that are no objects'. */
  list(): Promise<readonly ListedObject[]>;
  /** Removes an object, if it is there. */
  remove(name: string): Promise<void>;
}

/**
 * Who we are to a NATS cluster: files with the credentials, and with the authorities of its certificates. On so many of
 * its servers lies a bucket that a publisher makes.
 */
export interface NatsAccess {
  readonly credentials?: string | undefined;
  readonly ca?: string | undefined;
  readonly replicas?: number | undefined;
}

/** Keys of an S3 server, from the environment; '' where it has none of that name. */
interface S3Keys {
  readonly id: string;
  readonly secret: string;
  readonly token: string;
}

/**
 * Where the S3 server is, AWS by default, and who we are to it: nobody without keys. The bucket is the first part of
 * the path or of the host, by default of the path where an endpoint is named. Only where `isUnconditional` something is
 * published to a server that ignores conditions.
 */
export interface S3Access {
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly addressing?: 'path' | 'host' | undefined;
  readonly keys?: S3Keys | undefined;
  readonly isUnconditional?: boolean | undefined;
}

/** Who we are to targets that ask, and a PEM file of the authorities that we trust. */
export interface TargetAccess {
  readonly ca?: string | undefined;
  readonly nats?: NatsAccess;
  readonly s3?: S3Access;
}

/** How long a target may take to answer, or to send its next bytes. */
export interface TargetOptions extends TargetAccess {
  readonly timeoutMs: number;
}

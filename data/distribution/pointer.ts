// The pointer of a target, `current.json`: which generation replicas are to serve, and what it was before. Pure: text
// in, value out; a member is added here, in `encodePointer` and in data/distribution/README.md.
import { isObject } from '../../engine/bits/json.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { OperationError } from '../operationError.ts';

/** The name of the pointer in a target. */
export const POINTER_NAME = 'current.json';

/** No pointer is longer: nothing beyond is read. */
export const POINTER_BYTES_MAX = 1 << 16;

/** The form of the pointer. */
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

/** Records compressed for a base URL, of which `address` is the hash that names them (blockFiles.ts). */
export interface StoredBlocks extends StoredObject {
  readonly address: string;
}

/** What prune needs to know of a generation that was current before. */
export interface EarlierGeneration {
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

/** Whether a name in a target is that of an immutable object. */
export function isObjectName(name: string): boolean {
  return OBJECT_NAME.test(name);
}

/** The name of the snapshot with a SHA-256. */
export function snapshotName({ sha256 }: StoredObject): string {
  return `${sha256}.snapshot`;
}

/** The name of compressed records with a SHA-256. */
export function blocksName({ sha256 }: StoredObject): string {
  return `${sha256}.deflate`;
}

/** The names of all objects that a pointer needs. */
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

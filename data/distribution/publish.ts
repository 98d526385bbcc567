// Publishes a snapshot to a target: objects first, with names made from their content, the pointer last. If it is
// killed at any time, the target has either the old or the new state.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseInstant } from '../../engine/query/decimal.ts';
import { blocksTitle } from '../../engine/snapshot/sections.ts';
import { hashBaseUrl, blocksAddress } from '../blocks/blockStore.ts';
import { isSound } from '../blocks/earlierBlocks.ts';
import { attempt, openFile } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import type { HeldFile } from '../store/load.ts';
import { openForVerify, verifyHeld, type VerifyReport } from '../store/verify.ts';
import { readHeldPieces } from './fileTarget.ts';
import {
  BLOCKS_MAX,
  blocksName,
  changesName,
  decodePointer,
  encodePointer,
  nextPointer,
  isOlderData,
  type Pointer,
  type PointerText,
  type PublishingTarget,
  readCurrent,
  withRefreshTime,
  snapshotName,
  type StoredObject,
} from './target.ts';

/** A feed is sent in pieces of this many bytes, as files are. */
const PIECE_BYTES = 1 << 20;
/** More lost races than this mean that some publisher runs in a loop. */
const TURNS_MAX = 20;

/**
 * The snapshot file and its target. Older data than the target has is refused unless `allowRollback`. Data dated after
 * `latestMs` (since 1970) is refused. `refreshed` is the time when the data was compared with the catalogue.
 */
export interface PublishOptions {
  readonly file: string;
  readonly target: PublishingTarget;
  readonly allowRollback: boolean;
  /** The file is only ever replaced by a rename, so a folder on the same file system can link to it. */
  readonly isImmutable?: boolean | undefined;
  readonly refreshed?: string | undefined;
  readonly latestMs?: number | undefined;
  /** The bytes of the change feed of a generation. */
  readonly feedOf?: ((generation: string) => Promise<Uint8Array | undefined>) | undefined;
}

/**
 * The outcome: the pointer, the bytes that the target did not have, whether the pointer was new, and whether its data
 * is older than before. `leftOut` are files of compressed records that are damaged, belong to other data, or are too
 * many.
 */
export interface PublishReport {
  readonly leftOut: readonly string[];
  readonly pointer: Pointer;
  readonly sentBytes: number;
  readonly isNew: boolean;
  readonly isOlder: boolean;
}

/**
 * An object and its source: a file, or the bytes of the change feed. The file stays open, because another file may take
 * its name.
 */
interface Source extends StoredObject {
  readonly name: string;
  readonly held: HeldFile | Uint8Array;
}

/**
 * Verifies a snapshot file, puts it and its compressed records into a target, and points to it. Throws OperationError
 * `snapshot` if the file is damaged or not a snapshot, `refused` for older data than the target has, `file` and
 * `network`. Cost: a verification with its memory, three reads of the snapshot, and four of the compressed records.
 */
export async function publishSnapshot(options: PublishOptions, onProgress: OnProgress): Promise<PublishReport> {
  const opened: HeldFile[] = [];
  const hold = (held: HeldFile): HeldFile => {
    opened.push(held);
    return held;
  };
  try {
    return await publishSources(await openSources(options, hold, onProgress), options, onProgress);
  } finally {
    for (const { descriptor } of opened) closeSync(descriptor);
  }
}

interface BlocksSource extends Source {
  readonly address: string;
}

/** A verified snapshot and its compressed records. */
interface Sources {
  readonly verified: VerifyReport;
  readonly snapshot: Source;
  readonly blocks: readonly BlocksSource[];
  readonly changes: Source | undefined;
  readonly leftOut: readonly string[];
}

async function openSources(
  { file, feedOf }: PublishOptions,
  hold: (held: HeldFile) => HeldFile,
  onProgress: OnProgress,
): Promise<Sources> {
  const held = hold(openForVerify(file));
  const before = fileStamp(held);
  const verified = await verifyHeld(held, onProgress);
  const snapshot = await openSource(held, snapshotName, onProgress);
  if (fileStamp(held) !== before) throw changedError(file);
  const blocks: BlocksSource[] = [];
  const leftOut: string[] = [];
  for (const { file: name, address } of listBlocks(file, verified.generation)) {
    const isNamed = blocks.length < BLOCKS_MAX;
    if (!isNamed || !isSound(name, (title) => isTitleOf(title, verified.generation, address))) {
      leftOut.push(name);
      continue;
    }
    const source = await openSource(hold({ descriptor: openFile(name), file: name }), blocksName, onProgress);
    blocks.push({ ...source, address });
  }
  const feed = await feedOf?.(verified.generation);
  return { verified, snapshot, blocks, changes: feed && feedSource(feed), leftOut };
}

function feedSource(feed: Uint8Array): Source {
  const stored = { sha256: createHash('sha256').update(feed).digest('hex'), size: feed.length };
  return { ...stored, name: changesName(stored), held: feed };
}

async function publishSources(
  { verified: { generation, created, collections }, snapshot, blocks, changes, leftOut }: Sources,
  { target, allowRollback, isImmutable = false, refreshed, latestMs = Infinity }: PublishOptions,
  onProgress: OnProgress,
): Promise<PublishReport> {
  if (created !== undefined && parseInstant(created) / 1000 > latestMs) {
    const warning = `the data is dated ${created}, more than a day in the future: replicas that take it refuse all earlier data`;
    throw new OperationError('refused', `${target.name}: ${warning}; --force publishes it anyway`);
  }
  const counts = Object.fromEntries(collections.map(({ name, records }) => [name, records]));
  const content = {
    ...toStored(snapshot),
    generation,
    created,
    refreshed,
    counts,
    blocks: blocks.map((block) => ({ ...toStored(block), address: block.address })),
    changes: changes && toStored(changes),
  };
  let sentBytes = 0;
  const send = async (): Promise<void> => {
    for (const source of [snapshot, ...blocks, ...(changes ? [changes] : [])])
      sentBytes += await uploadObject(target, source, isImmutable, onProgress);
  };
  // Older data is refused before it is sent, and again after every lost race.
  const checkPointer = (expected: PointerText | undefined): Pointer | undefined => {
    const current = expected && decodePointer(expected.text, target.name);
    if (current && !allowRollback && isOlderData(content, current)) throw staleError(target, content, current);
    return current;
  };
  checkPointer(await readCurrent(target));
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    await send();
    const pointerText = await readCurrent(target);
    const current = checkPointer(pointerText);
    const isNew = !current || !isSame(current, content);
    const pointer = isNew ? nextPointer(content, current) : withRefreshTime(current, refreshed);
    if (pointer === current || (await target.replacePointer(pointer, pointerText))) {
      // A prune that began earlier may have removed objects to which no pointer led then.
      await send();
      const isOlder = current !== undefined && isOlderData(content, current);
      return { pointer, sentBytes, isNew, isOlder, leftOut };
    }
  }
  throw pointerRaceError(target);
}

/**
 * Publishes that a generation was compared with the catalogue at a time. If the target now points to another
 * generation, for example after a rollback, nothing changes. Returns false if it has no pointer. Throws OperationError
 * `network` or `file`, and `refused` after too many lost races. Cost: a read and a write of the pointer.
 */
export async function confirmPublished(
  target: PublishingTarget,
  generation: string,
  refreshed: string,
): Promise<boolean> {
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const pointerText = await readCurrent(target);
    const current = pointerText && decodePointer(pointerText.text, target.name);
    if (!current) return false;
    if (current.generation !== generation) return true;
    if (await target.replacePointer(withRefreshTime(current, refreshed), pointerText)) return true;
  }
  throw pointerRaceError(target);
}

function pointerRaceError({ name }: PublishingTarget): OperationError {
  return new OperationError('refused', `${name}: another publisher was faster ${TURNS_MAX} times`);
}

function isSame(current: Pointer, content: Omit<Pointer, 'sequence' | 'earlier'>): boolean {
  const { sequence, earlier, refreshed } = current;
  return encodePointer(current) === encodePointer({ ...content, sequence, earlier, refreshed });
}

function staleError(
  { name }: PublishingTarget,
  { created }: Pick<Pointer, 'created'>,
  current: Pointer,
): OperationError {
  const reason = `the data of ${created} is older than that of ${current.created}, which is current`;
  return new OperationError('refused', `${name}: ${reason}; --allow-rollback publishes it anyway`);
}

function toStored({ sha256, size }: StoredObject): StoredObject {
  return { sha256, size };
}

/** The files with compressed records of a generation, next to its snapshot. */
function listBlocks(file: string, generation: string): readonly { readonly file: string; readonly address: string }[] {
  const directory = path.dirname(file);
  return attempt(`cannot read ${directory}`, () => readdirSync(directory))
    .toSorted()
    .flatMap((name) => {
      const address = blocksAddress(path.basename(file), generation, name);
      return address === undefined ? [] : [{ file: path.join(directory, name), address }];
    });
}

/**
 * Whether blocks belong to a generation and to the base URL with this address hash. Such a URL needs no escapes in
 * JSON.
 */
function isTitleOf(title: string, generation: string, address: string): boolean {
  const start = blocksTitle({ generation, baseUrl: '' }).slice(0, -'"}'.length);
  return title.startsWith(start) && hashBaseUrl(title.slice(start.length, -'"}'.length)) === address;
}

async function openSource(
  held: HeldFile,
  nameOf: (stored: StoredObject) => string,
  onProgress: OnProgress,
): Promise<Source> {
  const hash = createHash('sha256');
  const total = attempt(`cannot read ${held.file}`, () => fstatSync(held.descriptor).size);
  let size = 0;
  for await (const piece of readHeldPieces(held)) {
    hash.update(piece);
    size += piece.length;
    onProgress({ phase: 'hashing', done: size, total, unit: 'bytes' });
  }
  const stored = { sha256: hash.digest('hex'), size };
  return { ...stored, name: nameOf(stored), held };
}

/** Writes an object unless the target has it. Returns how many bytes the target did not have. */
async function uploadObject(
  target: PublishingTarget,
  { name, held, ...stored }: Source,
  isImmutable: boolean,
  onProgress: OnProgress,
): Promise<number> {
  const isThere = await target.has(name, stored.size);
  if (held instanceof Uint8Array) {
    if (!isThere) await target.write(name, stored.size, slicePieces(held));
    return isThere ? 0 : stored.size;
  }
  const isLinked = isImmutable && (await target.adopt?.(name, held)) === true;
  if (isThere) return 0;
  if (!isLinked) await target.write(name, stored.size, readUnchanged(held, stored, onProgress));
  return stored.size;
}

async function* slicePieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** The bytes of a file. Throws at the end unless they are the verified ones. */
async function* readUnchanged(
  held: HeldFile,
  { sha256, size }: StoredObject,
  onProgress: OnProgress,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let done = 0;
  for await (const piece of readHeldPieces(held)) {
    hash.update(piece);
    done += piece.length;
    onProgress({ phase: 'publishing', done, total: size, unit: 'bytes' });
    if (done >= size && (done > size || hash.copy().digest('hex') !== sha256)) break;
    yield piece;
    if (done === size) return;
  }
  throw changedError(held.file);
}

/** A text that changes if the file is written to, but not if its name is removed. */
function fileStamp({ descriptor, file }: HeldFile): string {
  const { size, mtimeMs } = attempt(`cannot read ${file}`, () => fstatSync(descriptor));
  return `${size} ${mtimeMs}`;
}

function changedError(file: string): OperationError {
  return new OperationError('file', `${file} was changed while it was read: publish again`);
}

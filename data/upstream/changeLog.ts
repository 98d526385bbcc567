// The log of the changes from generation to generation: a sequence of frames, each bound by checksums to all frames
// before it. Changes are found by merging the ids of two catalogues and comparing digests, without reading records.
import { Packr } from 'msgpackr/pack';
import { computeCrc } from '../../engine/bits/checksum.ts';
import { OperationError } from '../operationError.ts';
import { type CatalogueDigests, DIGEST_BYTES, digestAt, type RecordDigests } from './digests.ts';
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync } from 'node:fs';
import path from 'node:path';
import { attempt, openFile, readAllAt, syncDirectory, writeAllAt } from '../files.ts';
import { compareBytes } from '../../engine/bits/bytes.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';

/**
 * Some changes of one generation. `at` is in seconds since 1970. The frame with `isLast` ends the generation, which is
 * ignored until that frame exists. A generation with `isBase` has no predecessor: its changes are not known.
 */
export interface LogFrame {
  readonly generation: string;
  readonly at: number;
  readonly isBase: boolean;
  readonly isLast: boolean;
  readonly changes: readonly RecordChange[];
}

/** The end of a log, or of a part of it: its bytes, and the checksum that the next frame continues. */
interface LogEnd {
  readonly bytes: number;
  readonly sum: number;
}

interface FoundFrame {
  readonly frame: LogFrame;
  readonly end: LogEnd;
}

/** Reads `length` bytes from `offset`; fewer at the end. */
type ReadAt = (offset: number, length: number) => Uint8Array;

/** Changes in a frame, at most: about 100 kB. */
export const FRAME_CHANGES_MAX = 1000;

/** Longer than any frame with that many changes. */
const PAYLOAD_BYTES_MAX = 1 << 20;

/**
 * The magic bytes of a log. Frames follow:
 *
 *   offset  bytes  content
 *        0      4  length n of the payload, little-endian
 *        4      4  CRC-32 of that length, continued from the frames before
 *        8      n  payload: msgpack of a LogFrame
 *    8 + n      4  CRC-32 of the payload, continued from the head; the next frame follows
 *
 * Continued checksums reveal a frame that is moved, repeated or missing.
 */
const MAGIC = new TextEncoder().encode('CATCHG1\n');
const HEAD_BYTES = 8;
const SUM_BYTES = 4;

const FRAMES = new Packr({ useRecords: false });

/** The start of a log. */
export const LOG_START: { readonly bytes: Uint8Array; readonly end: LogEnd } = {
  bytes: MAGIC,
  end: { bytes: MAGIC.length, sum: computeCrc(MAGIC) },
};

/** The bytes of a frame that follows `end`, and the end of the log after it. */
function frameBytes(frame: LogFrame, { bytes, sum }: LogEnd): { bytes: Uint8Array; end: LogEnd } {
  const changes = frame.changes.map(({ collection, id, before, after }) => [collection, id, before, after]);
  const payload = FRAMES.pack([frame.generation, frame.at, frame.isBase, frame.isLast, changes]);
  const whole = new Uint8Array(HEAD_BYTES + payload.length + SUM_BYTES);
  const view = new DataView(whole.buffer);
  view.setUint32(0, payload.length, true);
  const headSum = computeCrc(whole.subarray(0, 4), sum);
  view.setUint32(4, headSum, true);
  whole.set(payload, HEAD_BYTES);
  const payloadSum = computeCrc(payload, headSum);
  view.setUint32(HEAD_BYTES + payload.length, payloadSum, true);
  return { bytes: whole, end: { bytes: bytes + whole.length, sum: payloadSum } };
}

/**
 * The frames after `from`, by default from the start of the log. An incomplete last frame is ignored; a log that is cut
 * within its magic has no frames. Throws OperationError `input` with `file` and the offset for any other damage. Cost:
 * 2 ns a byte, and reading the frames; memory is that of one frame.
 */
function* scanFrames(file: string, read: ReadAt, from?: LogEnd): Generator<FoundFrame> {
  let end = from ?? startIn(file, read);
  while (end) {
    const frame = frameAt(file, read, end);
    if (!frame) return;
    yield frame;
    end = frame.end;
  }
}

function startIn(file: string, read: ReadAt): LogEnd | undefined {
  const magic = read(0, MAGIC.length);
  if (magic.some((byte, i) => byte !== MAGIC[i])) throw damage(file, 0, 'it is not a change log of this version');
  return magic.length < MAGIC.length ? undefined : LOG_START.end;
}

function frameAt(file: string, read: ReadAt, { bytes: offset, sum }: LogEnd): FoundFrame | undefined {
  const head = read(offset, HEAD_BYTES);
  if (head.length < HEAD_BYTES) return undefined;
  const headSum = computeCrc(head.subarray(0, 4), sum);
  if (wordAt(head, 4) !== headSum) throw damage(file, offset, 'the head of a frame is damaged or misplaced');
  const length = wordAt(head, 0);
  if (length > PAYLOAD_BYTES_MAX) throw damage(file, offset, `a frame of ${length} bytes`);
  const rest = read(offset + HEAD_BYTES, length + SUM_BYTES);
  if (rest.length < length + SUM_BYTES) return undefined;
  const payload = rest.subarray(0, length);
  const payloadSum = computeCrc(payload, headSum);
  if (wordAt(rest, length) !== payloadSum) throw damage(file, offset, 'a frame is damaged');
  const frame = parseFrame(payload);
  if (!frame) throw damage(file, offset, 'a frame has no valid changes');
  return { frame, end: { bytes: offset + HEAD_BYTES + rest.length, sum: payloadSum } };
}

function wordAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
}

function damage(file: string, offset: number, reason: string): OperationError {
  const cure = 'move it away to start a new one';
  return new OperationError('input', `${file}: damaged at byte ${offset}: ${reason}; ${cure}`);
}

/** Decodes the payload of a frame; undefined if it is not one, even with a right checksum. */
function parseFrame(payload: Uint8Array): LogFrame | undefined {
  let value: unknown;
  try {
    value = FRAMES.unpack(payload);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== 5) return undefined;
  const [generation, at, isBase, isLast, rows] = value as unknown[];
  const isWhole =
    typeof generation === 'string' &&
    /^[0-9a-f]{64}$/.test(generation) &&
    typeof at === 'number' &&
    typeof isBase === 'boolean' &&
    typeof isLast === 'boolean' &&
    Array.isArray(rows) &&
    rows.every(isChange);
  if (!isWhole) return undefined;
  const changes = rows.map(([collection, id, before, after]) => ({ collection, id, before, after }));
  return { generation, at, isBase, isLast, changes };
}

type Row = readonly [collection: string, id: number, before: Uint8Array | null, after: Uint8Array | null];

function isChange(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length !== 4) return false;
  const [collection, id, before, after] = row as unknown[];
  const isDigest = (digest: unknown): boolean =>
    digest === null || (digest instanceof Uint8Array && digest.length === DIGEST_BYTES);
  return (
    typeof collection === 'string' &&
    Number.isSafeInteger(id) &&
    isDigest(before) &&
    isDigest(after) &&
    before !== after
  );
}

interface LoggedGeneration {
  readonly generation: string;
  readonly at: number;
  readonly isBase: boolean;
  readonly start: LogEnd;
  readonly end: LogEnd;
}

/** A generation to append, with its changes, at the time `at`. See LogFrame for `isBase`. */
export interface NextGeneration {
  readonly generation: string;
  readonly at: number;
  readonly isBase: boolean;
  readonly changes: Iterable<RecordChange>;
}

/**
 * The complete generations of a log in their order; empty if the file does not exist. Throws OperationError `file`, or
 * `input` with the offset of the damage. Cost: a pass over the file.
 */
export function generationsIn(file: string): readonly LoggedGeneration[] {
  if (!existsSync(file)) return [];
  return withFile(file, (read) => {
    const generations: LoggedGeneration[] = [];
    let start = LOG_START.end;
    for (const { frame, end } of scanFrames(file, read)) {
      if (!frame.isLast) continue;
      const { generation, at, isBase } = frame;
      generations.push({ generation, at, isBase, start, end });
      start = end;
    }
    return generations;
  });
}

/**
 * The frames of the generations after `since`, or of all. `since` is a generation or its first 8 or more digits. Throws
 * OperationError `usage` if the log does not have it, or if a base follows it; also what generationsIn throws. Cost:
 * two passes over the file; memory is that of a frame.
 */
export function* changesSince(file: string, since?: string): Generator<LogFrame> {
  const all = generationsIn(file);
  const from = since === undefined ? 0 : indexAfter(file, all, since);
  const last = all.at(-1);
  if (!last || from === all.length) return;
  const descriptor = openFile(file);
  try {
    for (const { frame, end } of scanFrames(file, openReader(descriptor, file), all[from]!.start)) {
      yield frame;
      if (end.bytes === last.end.bytes) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

function indexAfter(file: string, all: readonly LoggedGeneration[], since: string): number {
  const index = /^[0-9a-f]{8,64}$/.test(since)
    ? all.findLastIndex(({ generation }) => generation.startsWith(since))
    : -1;
  if (index < 0) {
    const known = all.length === 0 ? 'it has none' : `its last is ${all.at(-1)!.generation}`;
    throw new OperationError('usage', `${file} has no generation ${since}; ${known}`);
  }
  const restart = all.slice(index + 1).find(({ isBase }) => isBase);
  if (!restart) return index + 1;
  throw new OperationError(
    'usage',
    `${file} started over with ${restart.generation}: the changes since ${since} are not known`,
  );
}

/**
 * Appends a generation and syncs it to the disk. If the process ends before that, even by `kill -9`, the log keeps its
 * old generations only. Throws OperationError `file`, and what generationsIn throws. Cost: a pass over the log, and 100
 * bytes a change.
 */
export function appendGeneration(file: string, next: NextGeneration): void {
  let end = generationsIn(file).at(-1)?.end;
  attempt(`cannot write ${file}`, () => {
    const descriptor = openSync(file, existsSync(file) ? 'r+' : 'wx');
    try {
      ftruncateSync(descriptor, end?.bytes ?? 0);
      if (!end) {
        writeAllAt(descriptor, LOG_START.bytes, 0);
        ({ end } = LOG_START);
      }
      for (const frame of splitIntoFrames(next)) {
        const framed = frameBytes(frame, end);
        writeAllAt(descriptor, framed.bytes, end.bytes);
        ({ end } = framed);
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncDirectory(path.dirname(path.resolve(file)));
  });
}

function* splitIntoFrames({ generation, at, isBase, changes }: NextGeneration): Generator<LogFrame> {
  let batch: RecordChange[] = [];
  for (const change of changes) {
    if (batch.length === FRAME_CHANGES_MAX) {
      yield { generation, at, isBase, isLast: false, changes: batch };
      batch = [];
    }
    batch.push(change);
  }
  yield { generation, at, isBase, isLast: true, changes: batch };
}

function withFile<T>(file: string, work: (read: ReadAt) => T): T {
  const descriptor = openFile(file);
  try {
    return work(openReader(descriptor, file));
  } finally {
    closeSync(descriptor);
  }
}

function openReader(descriptor: number, file: string): ReadAt {
  return (offset, length) => {
    const bytes = new Uint8Array(length);
    const filled = attempt(`cannot read ${file}`, () => readAllAt(descriptor, bytes, offset));
    return bytes.subarray(0, filled);
  };
}

/** A record that differs: created if `before` is null, deleted if `after` is null, otherwise changed. */
export interface RecordChange {
  readonly collection: string;
  readonly id: number;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

export const CHANGE_KINDS = ['created', 'changed', 'deleted'] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];

export function changeKind({ before, after }: Pick<RecordChange, 'before' | 'after'>): ChangeKind {
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'changed';
}

const NOTHING: RecordDigests = { ids: new Float64Array(0), digests: new Uint8Array(0) };

/** The records that differ, by collection in the order of the root view, then by id. Cost: one step per record. */
export function* changesBetween(before: CatalogueDigests, after: CatalogueDigests): Generator<RecordChange> {
  for (const { name } of COLLECTIONS) yield* changesIn(name, before.get(name) ?? NOTHING, after.get(name) ?? NOTHING);
}

function* changesIn(collection: string, old: RecordDigests, young: RecordDigests): Generator<RecordChange> {
  let [i, k] = [0, 0];
  while (i < old.ids.length || k < young.ids.length) {
    const [oldId, youngId] = [old.ids[i] ?? Infinity, young.ids[k] ?? Infinity];
    const id = Math.min(oldId, youngId);
    const before = oldId === id ? digestAt(old.digests, i++) : null;
    const after = youngId === id ? digestAt(young.digests, k++) : null;
    if (before && after && compareBytes(before, after) === 0) continue;
    yield { collection, id, before, after };
  }
}

// The log of what changed from generation to generation: frames behind each other, each bound by its sums to all before
// it. Pure: bytes in and out; changeFile.ts keeps them. Another layout needs another magic.
import { Packr } from 'msgpackr/pack';
import { crcOf } from '../../engine/bits/crc32.ts';
import { OperationError } from '../operationError.ts';
import { DIGEST_BYTES } from './digests.ts';
import type { RecordChange } from './diff.ts';

/**
 * Some changes of one generation, of `at` (seconds since 1970). A frame that `isLast` ends it; until that is there it
 * counts for nothing. A generation that `isBase` follows none: its changes are not known.
 */
export interface LogFrame {
  readonly generation: string;
  readonly at: number;
  readonly isBase: boolean;
  readonly isLast: boolean;
  readonly changes: readonly RecordChange[];
}

/** Where a log ends, or could: how many bytes it has, and the sum that the next frame goes on from. */
export interface LogEnd {
  readonly bytes: number;
  readonly sum: number;
}

/** A frame, and where it ends. */
export interface FoundFrame {
  readonly frame: LogFrame;
  readonly end: LogEnd;
}

/** Reads `length` bytes from `offset`; fewer at the end. */
export type ReadAt = (offset: number, length: number) => Uint8Array;

/** So many changes a frame: 100 kB. */
export const FRAME_CHANGES_MAX = 1000;

/** Longer than any frame of that many changes. */
const PAYLOAD_BYTES_MAX = 1 << 20;

/**
 * What a log begins with. Behind it:
 *
 *   offset  bytes  what stands there
 *        0      4  length n of a frame's payload, little-endian
 *        4      4  CRC-32 of that length, behind all frames before
 *        8      n  the payload: msgpack of a LogFrame
 *    8 + n      4  CRC-32 of the payload, behind its head; the next frame follows
 *
 * A sum "behind" something goes on from the sum of that, so that a frame that is moved, repeated or left out is found.
 */
const MAGIC = new TextEncoder().encode('CATCHG1\n');
const HEAD_BYTES = 8;
const SUM_BYTES = 4;

const FRAMES = new Packr({ useRecords: false });

/** What a log begins with. */
export const LOG_START: { readonly bytes: Uint8Array; readonly end: LogEnd } = {
  bytes: MAGIC,
  end: { bytes: MAGIC.length, sum: crcOf(MAGIC) },
};

/** The bytes of a frame that stands behind `end`, and where the log ends then. */
export function frameBytes(frame: LogFrame, { bytes, sum }: LogEnd): { bytes: Uint8Array; end: LogEnd } {
  const changes = frame.changes.map(({ collection, id, before, after }) => [collection, id, before, after]);
  const payload = FRAMES.pack([frame.generation, frame.at, frame.isBase, frame.isLast, changes]);
  const whole = new Uint8Array(HEAD_BYTES + payload.length + SUM_BYTES);
  const view = new DataView(whole.buffer);
  view.setUint32(0, payload.length, true);
  const headSum = crcOf(whole.subarray(0, 4), sum);
  view.setUint32(4, headSum, true);
  whole.set(payload, HEAD_BYTES);
  const payloadSum = crcOf(payload, headSum);
  view.setUint32(HEAD_BYTES + payload.length, payloadSum, true);
  return { bytes: whole, end: { bytes: bytes + whole.length, sum: payloadSum } };
}

/**
 * The frames after `from`, by default the start of the log. A last one that is cut short ends them; a log that is cut
 * within its magic has none. Throws OperationError `input` with `file` and the offset for any other damage. Cost: 2 ns
 * a byte and reading the frame; memory is that of one frame.
 */
export function* framesIn(file: string, read: ReadAt, from?: LogEnd): Generator<FoundFrame> {
  let end = from ?? startIn(file, read);
  while (end) {
    const found = frameAt(file, read, end);
    if (!found) return;
    yield found;
    end = found.end;
  }
}

function startIn(file: string, read: ReadAt): LogEnd | undefined {
  const found = read(0, MAGIC.length);
  if (found.some((byte, i) => byte !== MAGIC[i])) throw damage(file, 0, 'it is no change log of this version');
  return found.length < MAGIC.length ? undefined : LOG_START.end;
}

function frameAt(file: string, read: ReadAt, { bytes: offset, sum }: LogEnd): FoundFrame | undefined {
  const head = read(offset, HEAD_BYTES);
  if (head.length < HEAD_BYTES) return undefined;
  const headSum = crcOf(head.subarray(0, 4), sum);
  if (wordAt(head, 4) !== headSum) throw damage(file, offset, 'the head of a frame is damaged, or its place is wrong');
  const length = wordAt(head, 0);
  if (length > PAYLOAD_BYTES_MAX) throw damage(file, offset, `a frame of ${length} bytes`);
  const rest = read(offset + HEAD_BYTES, length + SUM_BYTES);
  if (rest.length < length + SUM_BYTES) return undefined;
  const payload = rest.subarray(0, length);
  const payloadSum = crcOf(payload, headSum);
  if (wordAt(rest, length) !== payloadSum) throw damage(file, offset, 'a frame is damaged');
  const frame = frameOf(payload);
  if (!frame) throw damage(file, offset, 'a frame holds no changes');
  return { frame, end: { bytes: offset + HEAD_BYTES + rest.length, sum: payloadSum } };
}

function wordAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
}

function damage(file: string, offset: number, what: string): OperationError {
  const cure = 'move it away to begin another one';
  return new OperationError('input', `${file}: damaged at byte ${offset}: ${what}; ${cure}`);
}

/** A frame out of its payload; undefined for what is none, whatever its sum. */
function frameOf(payload: Uint8Array): LogFrame | undefined {
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
  const isDigest = (one: unknown): boolean =>
    one === null || (one instanceof Uint8Array && one.length === DIGEST_BYTES);
  return (
    typeof collection === 'string' &&
    Number.isSafeInteger(id) &&
    isDigest(before) &&
    isDigest(after) &&
    before !== after
  );
}

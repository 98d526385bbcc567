// Writes a snapshot as a stream of bytes: padded sections in the order they come, the directory, and last the header.
// Pure: where the bytes go and how they are hashed is the caller's. Called by data/import.ts.
import { checksum, checksumOf } from '../bits/checksum.ts';
import { encodeDirectory, paddedBytes, schemaHash, type Section, type Width } from './directory.ts';
import { encodeHeader, HEADER_BYTES } from './header.ts';

/** Takes the bytes behind the header, in order. */
export type Sink = (bytes: Uint8Array) => void;

/** A typed array as a section can hold it; the element width follows from it. */
export type SectionArray = Uint8Array | Uint32Array | Float64Array;

/** Collects sections. `add` writes at once; `finish` writes the directory and answers the header for the file's start. */
export class SnapshotWriter {
  private readonly sections: Section[] = [];
  private end = HEADER_BYTES;
  private readonly sink: Sink;

  constructor(sink: Sink) {
    this.sink = sink;
  }

  /**
   * Adds a section of the elements of `parts`, which are of one kind and may be many: records out of order come one by one.
   * Cost: one pass for the checksum.
   */
  add(name: string, parts: readonly SectionArray[]): void {
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    const section = { name, offset: this.end, bytes, width: (parts[0]?.BYTES_PER_ELEMENT ?? 1) as Width };
    this.sections.push({ ...section, checksum: this.write(parts, bytes) });
    this.end += paddedBytes(bytes);
  }

  /** The bytes written for sections so far, padding included. */
  get bytes(): number {
    return this.end - HEADER_BYTES;
  }

  /** Writes the directory; answers the header. `contentHash` is asked for once all bytes have gone to the sink. */
  finish(created: string | undefined, contentHash: () => Uint8Array): Uint8Array {
    const directory = encodeDirectory({ schema: schemaHash(), created, sections: this.sections });
    this.sink(directory);
    return encodeHeader({
      fileBytes: this.end + directory.length,
      directoryOffset: this.end,
      directoryBytes: directory.length,
      directoryChecksum: checksumOf(directory),
      contentHash: contentHash(),
    });
  }

  private write(parts: readonly SectionArray[], bytes: number): number {
    const running = checksum();
    const emit = (piece: Uint8Array): void => {
      if (piece.length === 0) return;
      running.add(piece);
      this.sink(piece);
    };
    const padding = paddedBytes(bytes) - bytes;
    const pieces = [...parts.map(bytesOf), new Uint8Array(padding)];
    for (const piece of inStripes(pieces)) emit(piece);
    return running.digest();
  }
}

function bytesOf(array: SectionArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** The same bytes in pieces whose lengths are multiples of 16, as the running checksum wants them. */
function* inStripes(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let carry = new Uint8Array(0);
  for (const piece of pieces) {
    let start = 0;
    if (carry.length > 0) {
      const joined = new Uint8Array(Math.min(16, carry.length + piece.length));
      joined.set(carry);
      start = joined.length - carry.length;
      joined.set(piece.subarray(0, start), carry.length);
      carry = joined;
      if (carry.length < 16) continue;
      yield carry;
    }
    const end = start + ((piece.length - start) & ~15);
    if (end > start) yield piece.subarray(start, end);
    carry = piece.slice(end);
  }
  if (carry.length > 0) yield carry;
}

// Writes a snapshot as a stream of bytes: padded sections in the order of the calls, the directory, and last the
// header. The caller's sink writes and hashes.
import { checksum } from '../bits/checksum.ts';
import { encodeDirectory, schemaHash, type Section, type Width } from './directory.ts';
import { encodeHeader, HEADER_BYTES, paddedBytes } from './header.ts';
import { narrow, type UnsignedArray } from '../bits/narrow.ts';
import { type SectionArray, type SectionContents, type SectionGroup, sectionName } from './sections.ts';

/** The destination of the bytes after the header. */
export interface Sink {
  /** Writes the next bytes of the file. */
  write(bytes: Uint8Array): void;
  /** Starts a SHA-256. */
  hash(): RunningHash;
}

/** A hash of bytes in pieces. `digest` returns it in lower-case hexadecimal, and may be called once. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  digest(): string;
}

/**
 * Collects sections and writes them at once. `finish` writes the directory and returns the header, which the caller
 * must write to the start of the file.
 */
export class SnapshotWriter {
  readonly #sections: Section[] = [];
  /** Sections that others may share, by length and digest. The digest also covers the padding. */
  readonly #shared = new Map<string, Section>();
  #end = HEADER_BYTES;
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /**
   * Adds the sections of a group in their order. Undefined optional ones are omitted, and integers are narrowed. Cost:
   * that of each section.
   */
  add<G extends SectionGroup>(group: G, path: string, contents: SectionContents<G>): void {
    for (const key in group.kinds) {
      const { element } = group.kinds[key]!;
      const name = sectionName(group, key, path);
      // The element kind determines the type of the contents.
      const content: unknown = contents[key];
      if (content === undefined) continue;
      if (element === 'pieces') this.addPieces(name, content as Iterable<Uint8Array>);
      else if (Array.isArray(content)) this.addBytes(name, content as readonly Uint8Array[]);
      else this.addArray(name, element === 'narrow' ? narrow(content as UnsignedArray) : (content as SectionArray));
    }
  }

  /** Adds a section, as `addBytes` does. */
  addArray(name: string, elements: SectionArray): void {
    const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
    this.addBytes(name, [bytes], elements.BYTES_PER_ELEMENT as Width);
  }

  /**
   * Adds a section with the concatenated bytes of `parts`. If an earlier section has the same length and digest, it
   * shares that place in the file. Cost: one pass each for the checksum, the digest and the write.
   */
  addBytes(name: string, parts: readonly Uint8Array[], width: Width = 1): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const pieces = [...cutIntoStripes([...parts, makePadding(bytes)])];
    const [running, hash] = [checksum(), this.#sink.hash()];
    for (const piece of pieces) {
      running.add(piece);
      hash.update(piece);
    }
    this.#place({ name, bytes, checksum: running.digest(), digest: hash.digest(), width }, pieces);
  }

  /**
   * Adds a section whose bytes come in pieces. Each piece is used before the next one is requested. No other section
   * shares its place: loading inserts the base URL into record bytes, at the positions that one other section lists.
   * Cost: one pass for the checksum and the digest.
   */
  addPieces(name: string, pieces: Iterable<Uint8Array>): void {
    const [running, hash] = [checksum(), this.#sink.hash()];
    let bytes = 0;
    const countBytes = function* (): Generator<Uint8Array> {
      for (const piece of pieces) {
        bytes += piece.length;
        yield piece;
      }
      yield makePadding(bytes);
    };
    for (const piece of cutIntoStripes(countBytes())) {
      running.add(piece);
      hash.update(piece);
      this.#sink.write(piece);
    }
    this.#append({ name, bytes, checksum: running.digest(), digest: hash.digest(), width: 1 });
  }

  /**
   * Adds a section of another file. `pieces` are its bytes and padding; checksum and digest are not verified again. If
   * `isAlone`, it gets a place that no other section shares, as with `addPieces`. Otherwise it shares the place of an
   * equal earlier section. Cost: a copy; none if the place is shared.
   */
  carry(section: Section, pieces: Iterable<Uint8Array>, isAlone: boolean): void {
    if (isAlone) this.#write(section, pieces);
    else this.#place(section, pieces);
  }

  /** The bytes of all sections so far, with padding. */
  get bytes(): number {
    return this.#end - HEADER_BYTES;
  }

  /** Writes the directory. Returns it and the header. */
  finish(created: string | undefined): { readonly header: Uint8Array; readonly directory: Uint8Array } {
    const directory = encodeDirectory({ schema: schemaHash(), created, sections: this.#sections });
    this.#sink.write(directory);
    const header = encodeHeader(this.#end, directory);
    return { header, directory };
  }

  /** Reuses the place of a section with the same bytes, or appends the section. */
  #place(section: Unplaced, pieces: Iterable<Uint8Array>): void {
    const key = `${section.bytes} ${section.digest}`;
    const known = this.#shared.get(key);
    if (known) this.#sections.push({ ...section, offset: known.offset });
    else {
      const placed = this.#write(section, pieces);
      if (placed.bytes > 0) this.#shared.set(key, placed);
    }
  }

  #write(section: Unplaced, pieces: Iterable<Uint8Array>): Section {
    for (const piece of pieces) this.#sink.write(piece);
    return this.#append(section);
  }

  #append(section: Unplaced): Section {
    const placed = { ...section, offset: this.#end };
    this.#sections.push(placed);
    this.#end += paddedBytes(placed.bytes);
    return placed;
  }
}

/** A section without its offset. */
type Unplaced = Omit<Section, 'offset'>;

function makePadding(bytes: number): Uint8Array {
  return new Uint8Array(paddedBytes(bytes) - bytes);
}

/** The maximum length of a piece, because hashes and writes accept at most 2^31 - 1 bytes. */
const PIECE_BYTES_MAX = 64 << 20;

/**
 * The same bytes in pieces whose lengths are multiples of 16, as the running checksum requires. The last may be
 * shorter.
 */
function* cutIntoStripes(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
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
    const end = piece.length - ((piece.length - start) % 16);
    for (let at = start; at < end; at += PIECE_BYTES_MAX) {
      yield piece.subarray(at, Math.min(end, at + PIECE_BYTES_MAX));
    }
    carry = piece.slice(end);
  }
  if (carry.length > 0) yield carry;
}

// Writes a snapshot as a stream of bytes: padded sections in the order they come, the directory, and last the header.
// Pure: where the bytes go and how they are hashed is the sink's.
import { checksum } from '../bits/checksum.ts';
import { encodeDirectory, schemaHash, type Section, type Width } from './directory.ts';
import { encodeHeader, HEADER_BYTES, paddedBytes } from './header.ts';
import { narrow, type UnsignedArray } from '../bits/narrow.ts';
import { type SectionArray, type SectionContents, type SectionGroup, sectionName } from './sections.ts';

/** Where the bytes behind the header go, in order, and what hashes some of them: SHA-256. */
export interface Sink {
  write(bytes: Uint8Array): void;
  hash(): RunningHash;
}

/** A hash of bytes that come in pieces; `digest` answers it in lower-case hexadecimal, once. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  digest(): string;
}

/**
 * Collects sections. Adding writes at once; `finish` writes the directory and answers the header for the file's start.
 */
export class SnapshotWriter {
  readonly #sections: Section[] = [];
  /** Sections that others may share, by length and digest: that one covers padding too. */
  readonly #shared = new Map<string, Section>();
  #end = HEADER_BYTES;
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /**
   * Adds the sections of a group in their order, optional ones where there are some, integers as narrow as they may be.
   * Cost: that of each section.
   */
  add<G extends SectionGroup>(group: G, path: string, contents: SectionContents<G>): void {
    for (const key in group.kinds) {
      const { element } = group.kinds[key]!;
      const name = sectionName(group, key, path);
      // The elements of a kind say which of these its contents are.
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
   * Adds a section of the bytes of some parts. Where an earlier one of that length has the same digest, it takes that
   * one's place in the file. Cost: one pass for the checksum, one for the digest, and one to write it.
   */
  addBytes(name: string, parts: readonly Uint8Array[], width: Width = 1): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const pieces = [...inStripes([...parts, paddingOf(bytes)])];
    const [running, hash] = [checksum(), this.#sink.hash()];
    for (const piece of pieces) {
      running.add(piece);
      hash.update(piece);
    }
    this.#place({ name, bytes, checksum: running.digest(), digest: hash.digest(), width }, pieces);
  }

  /**
   * Adds a section of bytes that come in pieces, each used before the next is asked for. No other section shares its
   * place: record bytes are loaded with another base URL, which their neighbours in the directory decide. Cost: one
   * pass for the checksum and the digest.
   */
  addPieces(name: string, pieces: Iterable<Uint8Array>): void {
    const [running, hash] = [checksum(), this.#sink.hash()];
    let bytes = 0;
    const counted = function* (): Generator<Uint8Array> {
      for (const piece of pieces) {
        bytes += piece.length;
        yield piece;
      }
      yield paddingOf(bytes);
    };
    for (const piece of inStripes(counted())) {
      running.add(piece);
      hash.update(piece);
      this.#sink.write(piece);
    }
    this.#append({ name, bytes, checksum: running.digest(), digest: hash.digest(), width: 1 });
  }

  /**
   * Adds a section as another file has it, whose bytes and padding `pieces` yields. It shares the place of an earlier
   * one as it would with `addArray`, unless it `isAlone`, as with `addPieces`. Checksum and digest are taken for right.
   * Cost: a copy, none where a place is shared.
   */
  carry(section: Section, pieces: Iterable<Uint8Array>, isAlone: boolean): void {
    if (isAlone) this.#write(section, pieces);
    else this.#place(section, pieces);
  }

  /** The bytes written for sections so far, padding included. */
  get bytes(): number {
    return this.#end - HEADER_BYTES;
  }

  /** Writes the directory; answers it and the header. */
  finish(created: string | undefined): { readonly header: Uint8Array; readonly directory: Uint8Array } {
    const directory = encodeDirectory({ schema: schemaHash(), created, sections: this.#sections });
    this.#sink.write(directory);
    const header = encodeHeader(this.#end, directory);
    return { header, directory };
  }

  /** At the place of a section with the same bytes, else behind the last one. */
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

/** A section before it is known where it goes. */
type Unplaced = Omit<Section, 'offset'>;

function paddingOf(bytes: number): Uint8Array {
  return new Uint8Array(paddedBytes(bytes) - bytes);
}

/** No piece is longer: hashes and writes take 2^31 - 1 bytes at most. */
const PIECE_BYTES_MAX = 64 << 20;

/** The same bytes in pieces whose lengths are multiples of 16, as the running checksum wants them. */
function* inStripes(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
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

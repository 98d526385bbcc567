// Writes a snapshot as a stream of bytes: padded sections in the order they come, the directory, and last the header.
// Pure: where the bytes go and how they are hashed is the sink's.
import { checksum, checksumOf } from '../bits/checksum.ts';
import { encodeDirectory, schemaHash, type Section, type Width } from './directory.ts';
import { encodeHeader, HEADER_BYTES, paddedBytes } from './header.ts';
import { narrow, type UnsignedArray } from '../bits/narrow.ts';
import { sectionName, type SectionArray, type SectionContents, type SectionGroup } from './sections.ts';

/**
 * Where the bytes behind the header go, in order, whether or not they are hashed. `digest` answers the SHA-256 of those
 * that were `write`n since it was last asked, in lower-case hexadecimal; `holds` whether those at an offset are these.
 */
export interface Sink {
  write(bytes: Uint8Array): void;
  copy(bytes: Uint8Array): void;
  digest(): string;
  holds(offset: number, bytes: Uint8Array): boolean;
}

/**
 * Collects sections. Adding writes at once; `finish` writes the directory and answers the header for the file's start.
 */
export class SnapshotWriter {
  readonly #sections: Section[] = [];
  /** Sections that others may share, by length and checksum. */
  readonly #shared = new Map<string, Section>();
  /** Where sections that were carried over from a place of another file went. */
  readonly #carried = new Map<number, number>();
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
   * Adds a section of the bytes of some parts. Where an earlier one has the same bytes, compared and not assumed, it
   * takes that one's place in the file. Cost: one pass for the checksum, one for the digest, and one over the earlier
   * section where they may be equal.
   */
  addBytes(name: string, parts: readonly Uint8Array[], width: Width = 1): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const pieces = [...inStripes([...parts, paddingOf(bytes)])];
    const sum = sumOf(pieces);
    const key = `${bytes} ${sum}`;
    const known = this.#shared.get(key);
    if (known && this.#holds(known.offset, pieces)) {
      this.#sections.push({ ...known, name, width });
      return;
    }
    for (const piece of pieces) this.#sink.write(piece);
    const section = this.#append(name, { bytes, checksum: sum, digest: this.#sink.digest(), width });
    if (bytes > 0 && !known) this.#shared.set(key, section);
  }

  /**
   * Adds a section of bytes that come in pieces, each used before the next is asked for. No other section shares its
   * place: record bytes are loaded with another base URL, which their neighbours in the directory decide. Cost: one
   * pass for the checksum and the digest.
   */
  addPieces(name: string, pieces: Iterable<Uint8Array>): void {
    const running = checksum();
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
      this.#sink.write(piece);
    }
    this.#append(name, { bytes, checksum: running.digest(), digest: this.#sink.digest(), width: 1 });
  }

  /**
   * Adds a section as another file has it, whose bytes and padding `pieces` yields, anew at each call. It shares the
   * place of an earlier one as it would with `addArray`, unless it `isAlone`, as with `addPieces`. Checksum and digest
   * are taken for right. Cost: a copy, none where a section of the same place of that file was carried over.
   */
  carry(section: Section, pieces: () => Iterable<Uint8Array>, isAlone: boolean): void {
    const { name, offset, bytes, checksum: sum, digest, width } = section;
    const key = `${bytes} ${sum}`;
    const known = isAlone ? undefined : this.#shared.get(key);
    if (known && (this.#carried.get(offset) === known.offset || this.#holds(known.offset, pieces()))) {
      this.#sections.push({ ...known, name, width });
      this.#carried.set(offset, known.offset);
      return;
    }
    for (const piece of pieces()) this.#sink.copy(piece);
    const placed = this.#append(name, { bytes, checksum: sum, digest, width });
    if (isAlone || bytes === 0) return;
    this.#carried.set(offset, placed.offset);
    if (!known) this.#shared.set(key, placed);
  }

  /** The bytes written for sections so far, padding included. */
  get bytes(): number {
    return this.#end - HEADER_BYTES;
  }

  /** Writes the directory; answers it and the header. */
  finish(created: string | undefined): { readonly header: Uint8Array; readonly directory: Uint8Array } {
    const directory = encodeDirectory({ schema: schemaHash(), created, sections: this.#sections });
    this.#sink.copy(directory);
    const header = encodeHeader({
      fileBytes: this.#end + directory.length,
      directoryOffset: this.#end,
      directoryBytes: directory.length,
      directoryChecksum: checksumOf(directory),
    });
    return { header, directory };
  }

  #holds(offset: number, pieces: Iterable<Uint8Array>): boolean {
    let at = offset;
    for (const piece of pieces) {
      if (!this.#sink.holds(at, piece)) return false;
      at += piece.length;
    }
    return true;
  }

  #append(name: string, written: Omit<Section, 'name' | 'offset'>): Section {
    const section = { name, offset: this.#end, ...written };
    this.#sections.push(section);
    this.#end += paddedBytes(written.bytes);
    return section;
  }
}

function paddingOf(bytes: number): Uint8Array {
  return new Uint8Array(paddedBytes(bytes) - bytes);
}

function sumOf(pieces: readonly Uint8Array[]): number {
  const running = checksum();
  for (const piece of pieces) running.add(piece);
  return running.digest();
}

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
    const end = start + ((piece.length - start) & ~15);
    if (end > start) yield piece.subarray(start, end);
    carry = piece.slice(end);
  }
  if (carry.length > 0) yield carry;
}

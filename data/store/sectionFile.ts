// Reads a snapshot file section by section, for callers that need few sections or one after another. Only requested
// sections take memory. Served snapshots are loaded completely (load.ts).
import { closeSync } from 'node:fs';
import { checksum, computeChecksum } from '../../engine/bits/checksum.ts';
import type { Section } from '../../engine/snapshot/directory.ts';
import { paddedBytes } from '../../engine/snapshot/header.ts';
import { viewElements } from '../../engine/snapshot/loaded.ts';
import {
  ELEMENTS,
  type SectionArray,
  type SectionGroup,
  sectionName,
  type SectionViews,
} from '../../engine/snapshot/sections.ts';
import { openFile, readInto } from '../files.ts';
import { UncachedReader } from '../uncached.ts';
import { readDirectory } from './load.ts';
import { assertChecksum } from './sectionLoader.ts';

/** Small enough that a piece is still in the processor's cache when it is hashed and written. */
const PIECE_BYTES = 256 << 10;

/** An open snapshot file, until `close`. All methods throw OperationError `file` or `snapshot`. */
export class SectionFile {
  readonly file: string;
  readonly generation: string;
  readonly created: string | undefined;
  readonly sections: readonly Section[];
  readonly #descriptor: number;
  readonly #uncached: UncachedReader | undefined;
  readonly #byName: ReadonlyMap<string, Section>;
  /** The offsets of sections whose checksums have been verified. */
  readonly #whole = new Set<number>();
  #piece = new Uint8Array(0);

  /** Opens a file and checks its header and directory. `isUncached` reads past the page cache. */
  constructor(file: string, { isUncached = false } = {}) {
    this.file = file;
    this.#descriptor = openFile(file);
    this.#uncached = isUncached ? new UncachedReader(this.#descriptor) : undefined;
    try {
      const { directory, generation } = readDirectory(this.#descriptor, file);
      this.generation = generation;
      this.created = directory.created;
      this.sections = directory.sections;
      this.#byName = new Map(this.sections.map((section) => [section.name, section]));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#uncached?.close();
    closeSync(this.#descriptor);
  }

  section(name: string): Section | undefined {
    return this.#byName.get(name);
  }

  /**
   * Reads the sections of a group under a path and verifies their checksums. Record bytes are left empty, and so are
   * sections that the file does not have. Cost: a read and a checksum of each section.
   */
  arrays<G extends SectionGroup>(group: G, path: string): SectionViews<G> {
    const arrays: Record<string, SectionArray | undefined> = {};
    for (const key in group.kinds) arrays[key] = this.#elements(group, key, path);
    // The directory was checked for the names and widths of the groups (findMisnamedSection).
    return arrays as SectionViews<G>;
  }

  /** Like `arrays`, for one section of a group. */
  array<G extends SectionGroup, K extends keyof G['kinds'] & string>(
    group: G,
    key: K,
    path: string,
  ): SectionViews<G>[K] {
    return this.#elements(group, key, path) as SectionViews<G>[K];
  }

  /** The bytes of a section and its padding, without verifying the checksum. Each piece is valid until the next one. */
  *pieces({ offset, bytes }: Section): Generator<Uint8Array> {
    const end = offset + paddedBytes(bytes);
    if (this.#piece.length === 0) this.#piece = new Uint8Array(PIECE_BYTES);
    for (let at = offset; at < end; at += PIECE_BYTES) {
      const piece = this.#piece.subarray(0, Math.min(PIECE_BYTES, end - at));
      readInto(this.#uncached ?? this.#descriptor, this.file, piece, at);
      yield piece;
    }
  }

  /** Fills `target` from a position of a section, without verifying the checksum. */
  read({ offset }: Section, at: number, target: Uint8Array): void {
    readInto(this.#uncached ?? this.#descriptor, this.file, target, offset + at);
  }

  /**
   * Throws unless the sections have the checksums in the directory. Cost: one pass over each section not checked
   * before; equal sections share their place and are checked once.
   */
  assertWhole(sections: readonly Section[]): void {
    for (const section of sections) {
      if (this.#whole.has(section.offset)) continue;
      const running = checksum();
      for (const piece of this.pieces(section)) running.add(piece);
      assertChecksum(this.file, section, running.digest());
      // An empty section shares its offset with the next one.
      if (section.bytes > 0) this.#whole.add(section.offset);
    }
  }

  #elements(group: SectionGroup, key: string, path: string): SectionArray | undefined {
    const { element, isOptional } = group.kinds[key]!;
    const section = element === 'pieces' ? undefined : this.section(sectionName(group, key, path));
    if (section) return this.#readChecked(section);
    return isOptional
      ? undefined
      : viewElements(new ArrayBuffer(0), element === 'narrow' ? 1 : ELEMENTS[element][0], 0, 0);
  }

  #readChecked(section: Section): SectionArray {
    const bytes = new Uint8Array(paddedBytes(section.bytes));
    this.read(section, 0, bytes);
    assertChecksum(this.file, section, computeChecksum(bytes));
    return viewElements(bytes.buffer, section.width, 0, section.bytes);
  }
}

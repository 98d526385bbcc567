// Loads sections of a snapshot file to their places in shared memory, verifies their checksums and puts the base URL
// into record bytes. Each thread has one loader, and no two write to the same place.
import { setImmediate } from 'node:timers/promises';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { checksum, computeChecksum } from '../../engine/bits/checksum.ts';
import type { Section } from '../../engine/snapshot/directory.ts';
import { paddedBytes } from '../../engine/snapshot/header.ts';
import type { Placement } from '../../engine/snapshot/loaded.ts';
import { findMisplacedLink, Rebase } from '../../engine/snapshot/rebase.ts';
import { readInto } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { UncachedReader } from '../uncached.ts';

const READ_BYTES = 8 << 20;
const REPORT_BYTES = 32 << 20;
const NONE = new Uint32Array(0);

/**
 * An open snapshot file and the places of its sections. Plain data that can be sent to threads of this process. `links`
 * maps the index of record bytes to the index of the positions of their URLs.
 */
export interface PlacedFile {
  readonly descriptor: number;
  readonly file: string;
  readonly sections: readonly Section[];
  readonly links: ReadonlyMap<number, number>;
  readonly placements: readonly Placement[];
  readonly memories: readonly WebAssembly.Memory[];
  readonly baseUrl: string;
  /** Whether reads bypass the page cache. */
  readonly isUncached: boolean;
}

/** The message to a load thread: indexes of sections in the directory. */
export interface LoadOrder {
  readonly indexes: readonly number[];
}

/**
 * Loads sections by their index in the directory. `onBytes` is called with the number of file bytes since its last
 * call.
 */
export class SectionLoader {
  readonly #placed: PlacedFile;
  readonly #onBytes: (bytes: number) => void;
  readonly #base: Uint8Array;
  readonly #uncached: UncachedReader | undefined;
  #unreported = 0;

  private constructor(placed: PlacedFile, uncached: UncachedReader | undefined, onBytes: (bytes: number) => void) {
    this.#placed = placed;
    this.#uncached = uncached;
    this.#onBytes = onBytes;
    this.#base = new TextEncoder().encode(placed.baseUrl);
  }

  /** Makes a loader of an open file. `uncached.ts` is imported only if `isUncached` is set. */
  static async open(placed: PlacedFile, onBytes: (bytes: number) => void): Promise<SectionLoader> {
    const { descriptor, isUncached } = placed;
    if (!isUncached) return new SectionLoader(placed, undefined, onBytes);
    const { UncachedReader } = await import('../uncached.ts');
    return new SectionLoader(placed, new UncachedReader(descriptor), onBytes);
  }

  /** Closes its own descriptor of an uncached file. The caller's descriptor stays open. */
  close(): void {
    this.#uncached?.close();
  }

  /**
   * Loads these sections. Load the positions of own URLs before the record bytes that they belong to. Throws
   * OperationError `snapshot` for a wrong checksum, and `file` if reading fails. Cost: one pass, with a turn of the
   * event loop every few MB.
   */
  async load(indexes: readonly number[]): Promise<void> {
    for (const i of indexes) {
      const links = this.#placed.links.get(i);
      if (links === undefined) this.#column(i);
      else await this.#records(i, links);
      if (this.#unreported >= REPORT_BYTES) await this.#report();
    }
    await this.#report();
  }

  async #report(): Promise<void> {
    this.#onBytes(this.#unreported);
    this.#unreported = 0;
    await setImmediate();
  }

  #view(i: number, bytes: number): Uint8Array {
    const { memory, offset } = this.#placed.placements[i]!;
    return new Uint8Array(this.#placed.memories[memory]!.buffer, offset, bytes);
  }

  #column(i: number): void {
    const section = this.#placed.sections[i]!;
    const target = this.#view(i, paddedBytes(section.bytes));
    readInto(this.#uncached ?? this.#placed.descriptor, this.#placed.file, target, section.offset);
    this.#unreported += section.bytes;
    assertChecksum(this.#placed.file, section, computeChecksum(target));
  }

  async #records(i: number, linksAt: number): Promise<void> {
    const { descriptor, file, sections, placements } = this.#placed;
    const section = sections[i]!;
    // The positions were loaded before.
    const bytes = this.#view(linksAt, sections[linksAt]!.bytes);
    const links = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const misfit = findMisplacedLink(links, section.bytes);
    if (misfit) throw new OperationError('snapshot', `${file}: section ${section.name}: ${misfit.refusal}`);
    // With the placeholder the bytes stay those of the file, so that their digest is right.
    const isRebased = this.#placed.baseUrl !== PLACEHOLDER;
    const rebase = new Rebase(this.#view(i, placements[i]!.bytes), isRebased ? links : NONE, this.#base);
    const running = checksum();
    const staging = new Uint8Array(Math.min(READ_BYTES, paddedBytes(section.bytes)));
    for (let at = 0; at < section.bytes; at += staging.length) {
      const piece = staging.subarray(0, Math.min(staging.length, paddedBytes(section.bytes) - at));
      const bytes = Math.min(piece.length, section.bytes - at);
      readInto(this.#uncached ?? descriptor, file, piece, section.offset + at);
      running.add(piece);
      rebase.piece(piece.subarray(0, bytes), at);
      this.#unreported += bytes;
      await this.#report();
    }
    assertChecksum(file, section, running.digest());
  }
}

/** Throws OperationError `snapshot` if the computed checksum of a section differs from the directory's. */
export function assertChecksum(file: string, { name, checksum: expected }: Section, computed: number): void {
  if (computed === expected) return;
  const [actual, stored] = [computed, expected].map((sum) => sum.toString(16).padStart(8, '0'));
  throw new OperationError('snapshot', `${file}: section ${name}: checksum ${actual}, expected ${stored}`);
}

// The row sets that a serving thread keeps, so that a walk over the pages of one filter finds its rows once.
// Bounded in bytes, the least recently used goes first. Knows no filter: keys are texts. One per thread, never shared.
import { ownedBytes, type RowSet } from '../engine/engine.ts';

/** What an entry takes beside its key and its rows: a map's slot and a few objects, rounded up. */
const ENTRY_BYTES = 256;

/** A text may take two bytes a character. */
const KEY_CHARACTER_BYTES = 2;

/** One set may take this part of the cache: larger ones would empty it for a single filter. */
const ENTRY_PART = 1 / 4;

interface Entry {
  readonly set: RowSet;
  readonly bytes: number;
}

/** A cache of at most `bytesMax` bytes; with 0 it keeps nothing. Counts what it was asked since it was made. */
export class RowSetCache {
  readonly bytesMax: number;
  hits = 0;
  misses = 0;
  #bytes = 0;
  /** In order of use, the latest last. */
  readonly #entries = new Map<string, Entry>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The bytes in use: never above `bytesMax`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many sets are kept. */
  get size(): number {
    return this.#entries.size;
  }

  /** The most that a set may own to be kept beside a key of ordinary length. */
  get setBytesMax(): number {
    return this.bytesMax * ENTRY_PART - ENTRY_BYTES;
  }

  /** The set of a key, which then counts as used last, or undefined. Cost: a map look-up. */
  get(key: string): RowSet | undefined {
    const entry = this.#entries.get(key);
    if (!entry) {
      this.misses++;
      return undefined;
    }
    this.hits++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.set;
  }

  /** Keeps a compact set under a key, in place of one that is there, unless it is too large. Drops the oldest for it. */
  put(key: string, set: RowSet): void {
    this.#drop(key);
    const bytes = ENTRY_BYTES + key.length * KEY_CHARACTER_BYTES + ownedBytes(set);
    if (bytes > this.bytesMax * ENTRY_PART) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= this.bytesMax) break;
      this.#drop(oldest);
    }
    this.#entries.set(key, { set, bytes });
    this.#bytes += bytes;
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

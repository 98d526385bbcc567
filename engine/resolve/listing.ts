// A listing of any length as a response body. Its text is written when a piece of it is requested, so memory stays
// flat. Measuring writes each entry once and remembers the start of every block of entries. Independent of what the
// entries are.
import { GrowableF64 } from '../bits/growable.ts';
import { upperBound } from '../bits/lists.ts';
import { type Body, wholeBody } from '../page/envelope.ts';
import type { Measuring } from '../page/gather.ts';
import { LISTED_ROWS_MAX, resolving } from './paths.ts';

export interface TextListing {
  readonly entries: number;
  readonly head: string;
  /** Between the entries that are not empty. */
  readonly separator: string;
  readonly tail: string;
  /** The text of an entry, by number; empty to skip the entry. */
  entry(i: number): string;
}

/** Entries in a block, whose start takes eight bytes. A piece begins at a block, so some entries are written twice. */
const BLOCK_ENTRIES = 32;
/**
 * Blocks that are measured before other requests get their turn, and blocks written for one piece; empty entries count.
 * Takes 1 to 2 ms, unless entries are long.
 */
const SLICE_BLOCKS = 8;
/** Characters of a piece; the last block may exceed it. */
const PIECE_CHARACTERS = 65_536;

const UTF8 = new TextEncoder();

/** Measures a listing slice by slice. Cost: writes each entry once, and once more for the piece that contains it. */
export function listingMeasuring(listing: TextListing): Measuring {
  const blocks = new Blocks(listing);
  return () => {
    const rowsEnd = resolving.rows + LISTED_ROWS_MAX;
    for (let i = 0; i < SLICE_BLOCKS && resolving.rows < rowsEnd && !blocks.isMeasured(); i++) blocks.measure();
    return blocks.isMeasured() ? blocks.body() : undefined;
  };
}

class Blocks {
  readonly #listing: TextListing;
  readonly #count: number;
  readonly #starts = new GrowableF64();
  #bytes = 0;
  /** The first entry that is not empty; it has no separator before it. */
  #first = -1;

  constructor(listing: TextListing) {
    this.#listing = listing;
    this.#count = Math.ceil(listing.entries / BLOCK_ENTRIES);
  }

  isMeasured(): boolean {
    return this.#starts.length === this.#count;
  }

  measure(): void {
    const block = this.#starts.length;
    this.#starts.push(this.#bytes);
    this.#bytes += UTF8.encode(this.#text(block)).length;
  }

  body(): Body {
    const { head, tail } = this.#listing;
    if (this.#count === 0) return wholeBody(UTF8.encode(head + tail));
    return { bytes: this.#bytes, isSlow: true, pieceAt: (offset) => this.#pieceAt(offset) };
  }

  #pieceAt(offset: number): Uint8Array {
    // The last block that starts at or before the offset. Blocks before it at the same offset are empty.
    const first = upperBound(this.#starts.view(), offset) - 1;
    const end = Math.min(this.#count, first + SLICE_BLOCKS);
    const rowsEnd = resolving.rows + LISTED_ROWS_MAX;
    let text = '';
    for (let block = first; block < end && text.length < PIECE_CHARACTERS; block++) {
      text += this.#text(block);
      if (resolving.rows >= rowsEnd) break;
    }
    return UTF8.encode(text).subarray(offset - this.#starts.at(first));
  }

  #text(block: number): string {
    const { entries, head, separator, tail } = this.#listing;
    const start = block * BLOCK_ENTRIES;
    const end = Math.min(entries, start + BLOCK_ENTRIES);
    let text = block === 0 ? head : '';
    for (let i = start; i < end; i++) {
      const entry = this.#listing.entry(i);
      if (entry === '') continue;
      if (this.#first < 0) this.#first = i;
      text += i === this.#first ? entry : separator + entry;
    }
    return end === entries ? text + tail : text;
  }
}

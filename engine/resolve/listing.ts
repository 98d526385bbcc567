// A listing of any length as a body: its text is written when a piece of it is asked for, so that it goes out at flat
// memory. Measuring writes each entry once and keeps where every few of them begin. Knows no entry.
import { GrowableF64 } from '../bits/growable.ts';
import { upperBound } from '../bits/lists.ts';
import { type Body, wholeBody } from '../page/envelope.ts';
import type { Measuring } from '../page/gather.ts';
import { LISTED_ROWS_MAX, resolving } from './paths.ts';

/** Entries by number, each as text or empty where there is none; `separator` stands between those that are there. */
export interface TextListing {
  readonly entries: number;
  readonly head: string;
  readonly separator: string;
  readonly tail: string;
  entry(i: number): string;
}

/** Entries whose start is kept, in eight bytes: a piece begins at one, so that some are written once more. */
const BLOCK_ENTRIES = 32;
/**
 * Measured at once, before other requests get their turn, and written for one piece, entries that are not there
 * included: 1 to 2 ms, unless entries are long.
 */
const SLICE_BLOCKS = 8;
/** Text of a piece, in characters; the last block may pass it. */
const PIECE_CHARACTERS = 65_536;

const UTF8 = new TextEncoder();

/** Measures a listing slice by slice. Cost: each entry written once; then once more for the piece that holds it. */
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
  /** The first entry that is there has no separator in front. */
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
    // The last block that starts here, so that it has a text: those in front of it without one are passed over.
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

// One request body put together from the pieces in which it arrives, and the memory that all of a listener may take.
// Knows no transport.

/** Bytes of unfinished bodies that one listener holds: 64 of the largest that the default limit lets in. */
const UNFINISHED_BYTES_MAX = 64 << 20;
/** The first buffer of a body of unknown length; it doubles as it fills. */
const UNSIZED_BYTES = 16_384;
const NOTHING = new Uint8Array(0);

export class BodyBudget {
  #bytesLeft: number;

  constructor(bytes = UNFINISHED_BYTES_MAX) {
    this.#bytesLeft = bytes;
  }

  /** Sets bytes aside; false, and nothing set aside, where there are not so many. */
  take(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytesLeft += bytes;
  }
}

/** What became of a body with one more piece: it goes on, passes its limit, finds no memory, or is whole. */
export type BodyProgress = 'more' | 'tooLong' | 'busy' | Uint8Array;

/**
 * Collects one body. `declaredBytes` is its Content-Length, undefined of a chunked one. A body that comes in one piece
 * is not copied; of others each byte is copied once, or twice while an undeclared one grows. A buffer of a declared
 * length is made with its first piece, but costs memory only as far as it is written: so only that counts, and who
 * declares much and sends little takes nothing from others.
 */
export class BodyCollector {
  readonly #bytesMax: number;
  readonly #declaredBytes: number | undefined;
  readonly #budget: BodyBudget;
  #buffer: Uint8Array = NOTHING;
  #length = 0;

  constructor(bytesMax: number, declaredBytes: number | undefined, budget: BodyBudget) {
    this.#bytesMax = bytesMax;
    this.#declaredBytes = declaredBytes;
    this.#budget = budget;
  }

  /** Takes the next piece, which is not kept: a whole body is the piece itself or our own buffer. */
  take(piece: Uint8Array, isLast: boolean): BodyProgress {
    const length = this.#length + piece.length;
    if (length > this.#bytesMax) return 'tooLong';
    const isWhole = isLast || length === this.#declaredBytes;
    if (isWhole && this.#length === 0) return piece;
    if (!this.#budget.take(piece.length)) return 'busy';
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(piece, this.#length);
    this.#length = length;
    return isWhole ? this.#buffer.subarray(0, length) : 'more';
  }

  /** Lets go of the memory; the body given is dead with it. */
  drop(): void {
    this.#budget.giveBack(this.#length);
    this.#buffer = NOTHING;
    this.#length = 0;
  }

  #grow(least: number): void {
    const doubled = Math.max(UNSIZED_BYTES, least, 2 * this.#buffer.length);
    // Without zeroing: only what was written is read.
    const buffer = Buffer.allocUnsafeSlow(this.#declaredBytes ?? Math.min(doubled, this.#bytesMax));
    buffer.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = buffer;
  }
}

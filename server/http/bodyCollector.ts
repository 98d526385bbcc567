// Assembles a request body from its pieces, within the memory that all bodies of a listener may use. Independent of the
// transport.

/** Memory of one listener for unfinished bodies: 64 of the largest that the default limit allows. */
const UNFINISHED_BYTES_MAX = 64 << 20;
/** The first buffer of a body of unknown length. It doubles as it fills. */
const UNSIZED_BYTES = 16_384;
const NOTHING = new Uint8Array(0);

export class BodyBudget {
  #bytesLeft: number;

  constructor(bytes = UNFINISHED_BYTES_MAX) {
    this.#bytesLeft = bytes;
  }

  /** Reserves bytes; returns false without reserving any if too few are left. */
  take(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytesLeft += bytes;
  }
}

/** The state after one more piece: more to come, over the limit, out of memory, or the whole body. */
export type BodyProgress = 'more' | 'tooLong' | 'busy' | Uint8Array;

/**
 * Collects one body. `declaredBytes` is its Content-Length, undefined for a chunked one. A body in one piece is not
 * copied; others are copied once, or twice while an undeclared one grows. A buffer of declared length is allocated with
 * the first piece but uses memory only as far as it is written. Only that counts, so a client that declares much and
 * sends little takes nothing from others.
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

  /** Adds a piece without keeping it. A whole body is the piece itself or the collector's buffer. */
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

  /** Releases the memory; the returned body must not be used any more. */
  drop(): void {
    this.#budget.release(this.#length);
    this.#buffer = NOTHING;
    this.#length = 0;
  }

  #grow(least: number): void {
    const doubled = Math.max(UNSIZED_BYTES, least, 2 * this.#buffer.length);
    // Not zeroed: only written bytes are read.
    const buffer = Buffer.allocUnsafeSlow(this.#declaredBytes ?? Math.min(doubled, this.#bytesMax));
    buffer.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = buffer;
  }
}

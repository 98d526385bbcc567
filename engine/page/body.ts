// What an answer's body is: known length,
// read in pieces. Knows neither records nor transports.

/**
 * A body of known length, read in pieces so that a page of any size is sent at flat memory. `pieceAt(offset)` answers a
 * non-empty view that starts at exactly that byte of the body (0 <= offset < bytes); the view is valid until the next
 * `pieceAt` of any body, or the next query, in the same thread. The same offset always gives the same bytes. A piece of
 * a body that `isSlow` takes 0.5 to 2 ms however short it is, so that its writers look at the clock behind each.
 */
export interface Body {
  readonly bytes: number;
  readonly isSlow?: boolean;
  pieceAt(offset: number): Uint8Array;
}

/** A body held whole in memory. Cost: none, and none to read it from its start. */
export function wholeBody(bytes: Uint8Array): Body {
  return new WholeBody(bytes);
}

/** A class, since most answers have such a body: no closure is made for one. */
class WholeBody implements Body {
  readonly bytes: number;
  readonly #view: Uint8Array;

  constructor(view: Uint8Array) {
    this.bytes = view.length;
    this.#view = view;
  }

  pieceAt(offset: number): Uint8Array {
    return offset === 0 ? this.#view : this.#view.subarray(offset);
  }
}

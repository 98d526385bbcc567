// Answers without stored blocks compressed while the client waits, within limits and at once: uWebSockets.js ends a connection
// with a request pipelined behind an answer that comes later. Called by catalogueRows.ts; what is not taken goes as it is.
import { gzipSync } from 'node:zlib';
import type { Body } from '../../engine/engine.ts';

/** Longer bodies are not compressed: at 1 MiB it takes 3 ms of the serving thread. */
const LIVE_BYTES_MAX = 1 << 20;

/** Bytes compressed in one turn of the event loop, beyond the first body: about a page, so that nobody waits for several. */
const TURN_BYTES_MAX = 1 << 19;

/** Half the time of level 6 for a page of 100, and a fifth more bytes; levels 1 and 2 save little more. */
const LEVEL = 3;

/** Compresses bodies in the calling thread. One for each serving thread. */
export class LiveGzip {
  #turnBytes = 0;
  #plain = new Uint8Array(0);

  /**
   * The compressed body; undefined where it is too long, or others have used up the turn. Cost: 25 us for a record, 0.9 ms for
   * a page of 100 (310 kB), and a copy of the body.
   */
  compressed(body: Body): Uint8Array | undefined {
    if (body.bytes > LIVE_BYTES_MAX) return undefined;
    if (this.#turnBytes > 0 && this.#turnBytes + body.bytes > TURN_BYTES_MAX) return undefined;
    if (this.#turnBytes === 0) setImmediate(() => (this.#turnBytes = 0));
    this.#turnBytes += body.bytes;
    return gzipSync(this.#copyOf(body), { level: LEVEL });
  }

  /** The body in one piece, until the next one is asked for, since zlib takes no pieces. */
  #copyOf(body: Body): Uint8Array {
    if (this.#plain.length < body.bytes) this.#plain = new Uint8Array(body.bytes);
    for (let offset = 0; offset < body.bytes;) {
      const piece = body.pieceAt(offset);
      this.#plain.set(piece, offset);
      offset += piece.length;
    }
    return this.#plain.subarray(0, body.bytes);
  }
}

// Answers without stored blocks compressed while the client waits: short ones at once, since uWebSockets.js ends a
// connection with a request pipelined behind an answer that comes later; longer ones away from this thread, bounded in
// size and number.
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Body } from '../../engine/engine.ts';
import type { Slices } from '../../workers/slices.ts';
import type { Disconnection } from '../../workers/waiter.ts';

const compress = promisify(gzip);

/** Longer bodies are not compressed: at 1 MiB it takes 3 ms of a core. */
export const LIVE_BYTES_MAX = 1 << 20;

/** Bodies up to this are compressed at once: 0.2 ms, about what a hop to another thread and back costs under load. */
const SHORT_BYTES_MAX = 1 << 16;

/** Bytes compressed at once in one turn of the event loop, plus one short body. */
const TURN_BYTES_MAX = 1 << 18;

/** Compressions at a time off the thread: as many as libuv has threads. */
const UNDER_WAY_MAX = 4;

/** Half the time of level 6 for a page of 100, and a fifth more bytes. One level, so that a body has one tag. */
const OPTIONS = { level: 3 } as const;

/** Compresses bodies, in the calling thread or in those that Node keeps for zlib. One for each serving thread. */
export class LiveGzip {
  readonly #slices: Slices;
  #turnBytes = 0;
  #underWay = 0;
  /** The short body at hand: a buffer for each would be memory that the collector sees late. */
  #short: Uint8Array | undefined;

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /**
   * The compressed body, a promise of it where it is long; undefined where it is too long, or many are asked for at
   * once, or who waits is gone. Cost here: a copy of the body, of one that is slow to read a piece a step, and for a
   * short one its compression, 25 us for a record.
   */
  compressed(body: Body, waiter: Disconnection): Uint8Array | Promise<Uint8Array | undefined> | undefined {
    if (body.bytes > LIVE_BYTES_MAX) return undefined;
    const sinceMs = this.#slices.now();
    const compressed = body.bytes <= SHORT_BYTES_MAX ? this.#atOnce(body) : this.#elsewhere(body, waiter);
    this.#slices.spend(sinceMs);
    return compressed;
  }

  #elsewhere(body: Body, waiter: Disconnection): Promise<Uint8Array | undefined> | undefined {
    if (body.isSlow) return this.#pieceByPiece(body, waiter);
    if (this.#underWay >= UNDER_WAY_MAX) return undefined;
    return this.#compress(copyOf(body, new Uint8Array(body.bytes)));
  }

  async #pieceByPiece(body: Body, waiter: Disconnection): Promise<Uint8Array | undefined> {
    let room: Uint8Array | undefined;
    let offset = 0;
    const step = (): Uint8Array | undefined => {
      room ??= new Uint8Array(body.bytes);
      offset = copyPiece(body, room, offset);
      return offset < body.bytes ? undefined : room;
    };
    const bytes = await this.#slices.run('copies', step, waiter);
    return typeof bytes === 'string' ? undefined : this.#compress(bytes);
  }

  #atOnce(body: Body): Uint8Array | undefined {
    if (this.#turnBytes >= TURN_BYTES_MAX) return undefined;
    if (this.#turnBytes === 0) setImmediate(() => (this.#turnBytes = 0));
    this.#turnBytes += body.bytes;
    this.#short ??= new Uint8Array(SHORT_BYTES_MAX);
    return gzipSync(copyOf(body, this.#short), OPTIONS);
  }

  async #compress(bytes: Uint8Array): Promise<Uint8Array> {
    this.#underWay++;
    try {
      return await compress(bytes, OPTIONS);
    } finally {
      this.#underWay--;
    }
  }
}

/** The body in one piece at the start of `room`, since zlib takes no pieces. */
function copyOf(body: Body, room: Uint8Array): Uint8Array {
  for (let offset = 0; offset < body.bytes;) offset = copyPiece(body, room, offset);
  return room.subarray(0, body.bytes);
}

function copyPiece(body: Body, room: Uint8Array, offset: number): number {
  const piece = body.pieceAt(offset);
  room.set(piece, offset);
  return offset + piece.length;
}

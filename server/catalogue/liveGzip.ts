// Compresses responses without stored blocks while the client waits. Short ones at once, because uWebSockets.js ends a
// connection with a request pipelined after a delayed response. Longer ones in other threads, limited in size and
// number.
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Body } from '../../engine/engine.ts';
import type { Slices } from '../../workers/slices.ts';
import type { Disconnection } from '../../workers/waiter.ts';

const compress = promisify(gzip);

/** Longer bodies are not compressed: 1 MiB takes 3 ms of a core. */
export const LIVE_BYTES_MAX = 1 << 20;

/**
 * Bodies up to this size are compressed at once: 0.2 ms, about the cost of a hop to another thread and back under load.
 */
const SHORT_BYTES_MAX = 1 << 16;

/** Limit of bytes compressed in one turn of the event loop, plus one short body. */
const TURN_BYTES_MAX = 1 << 18;

/** Simultaneous compressions in other threads: as many as libuv has threads. */
const UNDER_WAY_MAX = 4;

/**
 * Level 3 takes half the time of level 6 for a page of 100 and makes a fifth more bytes. A single level, so that each
 * body has one tag.
 */
const OPTIONS = { level: 3 } as const;

/** Compresses bodies in the calling thread or in Node's thread pool. One instance per serving thread. */
export class LiveGzip {
  readonly #slices: Slices;
  #turnBytes = 0;
  #underWay = 0;
  /** A reused buffer for short bodies: the garbage collector would free separate buffers late. */
  #short: Uint8Array | undefined;

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /**
   * The compressed body, or a promise if it is long. Undefined if it is too long, too many compressions run, or the
   * client has gone. Cost in this thread: a copy of the body (of a slow one, piece by piece) and, for a short one, the
   * compression, 25 us for a record.
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

/** Copies the body in one piece to the start of `room`, because zlib takes no pieces. */
function copyOf(body: Body, room: Uint8Array): Uint8Array {
  for (let offset = 0; offset < body.bytes;) offset = copyPiece(body, room, offset);
  return room.subarray(0, body.bytes);
}

function copyPiece(body: Body, room: Uint8Array, offset: number): number {
  const piece = body.pieceAt(offset);
  room.set(piece, offset);
  return offset + piece.length;
}

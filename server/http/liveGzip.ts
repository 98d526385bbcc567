// Answers without stored blocks compressed while the client waits: bounded in size and number, away from this thread.
// Called by catalogueRows.ts; what it does not take is sent as it is.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Body } from '../../engine/engine.ts';

const compress = promisify(gzip);

/** Longer bodies are not compressed: at 1 MiB it takes 10 ms of a core. */
const LIVE_BYTES_MAX = 1 << 20;

/** Compressions that a serving thread has under way: as many as the runtime's threads for such work. */
const UNDER_WAY_MAX = 4;

/** Compresses bodies in the threads that Node keeps for zlib. One for each serving thread. */
export class LiveGzip {
  #underWay = 0;

  /** The compressed body; undefined at once where it is too long, or too many are under way. Cost here: a copy of the body. */
  compressed(body: Body): Promise<Uint8Array> | undefined {
    if (body.bytes > LIVE_BYTES_MAX || this.#underWay >= UNDER_WAY_MAX) return undefined;
    return this.#run(copyOf(body));
  }

  async #run(bytes: Uint8Array): Promise<Uint8Array> {
    this.#underWay++;
    try {
      return await compress(bytes);
    } finally {
      this.#underWay--;
    }
  }
}

function copyOf(body: Body): Uint8Array {
  const bytes = new Uint8Array(body.bytes);
  for (let offset = 0; offset < bytes.length;) {
    const piece = body.pieceAt(offset);
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}

// Deflate of neighbouring records, each by itself and with those before it, in WebAssembly: source/encoder.as says how.
// Neither zlib nor a library of it takes two records' worth of work at once: a call and a stream for each block, whose
// tables are cleared, cost 2 to 4 times as much, most where records are short.
import { compiledOnce } from '../../engine/kernel/kernel.ts';
import { newOwn, takeRoom } from '../../engine/kernel/own.ts';
import { attempt } from '../files.ts';
import { ENCODER_BASE64 } from './encoderBytes.ts';

/** What the module has. All numbers are places in its memory, or positions of the window. */
interface EncoderModule {
  open(window: number, before: number, symbols: number): void;
  chain(from: number, to: number): void;
  deflate(from: number, to: number, low: number, at: number): number;
}

/** Behind the tables of the module. */
const WINDOW_AT = 81_920;
/** Four bytes for each of the most symbols of a block, and some that are put behind them. */
const SYMBOLS_BYTES = 4 * 16_400;
/** What the module may read behind a window, and write behind a block. */
const SLACK_BYTES = 64;

const encoderModule = compiledOnce(ENCODER_BASE64);

/**
 * Makes deflate blocks of what stands in a window of bytes. It keeps a memory of its own, some four times the largest
 * window, until it is garbage.
 */
export class DeflateEncoder {
  readonly #own = newOwn();
  readonly #module: EncoderModule;
  #outputAt = 0;

  constructor() {
    const { exports } = new WebAssembly.Instance(encoderModule(), { memories: { own: this.#own.memory } });
    this.#module = exports as unknown as EncoderModule;
  }

  /** Begins with another window, which is copied. Throws OperationError `file` where there is no memory for it. */
  open(window: Uint8Array): void {
    const beforeAt = aligned(WINDOW_AT + window.length + SLACK_BYTES);
    const symbolsAt = aligned(beforeAt + 2 * window.length);
    this.#outputAt = symbolsAt + SYMBOLS_BYTES;
    const bytes = this.#outputAt + mostBytes(window.length);
    attempt(`cannot deflate records (${bytes} bytes of memory)`, () => takeRoom(this.#own, bytes));
    this.#own.bytes.set(window, WINDOW_AT);
    this.#module.open(WINDOW_AT, beforeAt, symbolsAt);
  }

  /** Lets blocks find what stands between two positions. Records are added in order, before their own blocks. */
  add(from: number, to: number): void {
    this.#module.chain(from, to);
  }

  /**
   * The bytes between two positions as deflate blocks, none the last one, and the header of a stored block, up to a
   * whole byte: valid until the next one is made. They may refer to what was added from `low` on, and are the same
   * whatever stands before that and behind them. Cost: a few us, and some 10 ns a byte.
   */
  block(from: number, to: number, low: number): Uint8Array {
    return this.#own.bytes.subarray(this.#outputAt, this.#module.deflate(from, to, low, this.#outputAt));
  }
}

/** Nine bits a byte at most, with codes that are there already, and a few bits for each block and at the end. */
function mostBytes(bytes: number): number {
  return bytes + (bytes >> 3) + (bytes >> 12) + SLACK_BYTES;
}

function aligned(at: number): number {
  return (at + 7) & ~7;
}

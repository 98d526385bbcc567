// Deflates neighbouring records in WebAssembly, each alone and chained to those before it. source/encoder.as has the
// algorithm. zlib and its bindings need a call and a stream for every block and clear their tables each time. That
// costs 2 to 4 times as much, most for short records.
import { compileOnce } from '../../engine/kernel/kernel.ts';
import { newScratch, reserve } from '../../engine/kernel/own.ts';
import { attempt } from '../files.ts';
import { ENCODER_BASE64 } from './encoderBytes.ts';

/** The exports of the module. All numbers are addresses in its memory or positions in the window. */
interface EncoderModule {
  open(window: number, before: number, symbols: number): void;
  chain(from: number, to: number): void;
  deflate(from: number, to: number, low: number, at: number): number;
}

/** The first address after the tables of the module. */
const WINDOW_AT = 81_920;
/** Four bytes for each of the 16,384 symbols that a block has at most, and some reserve. */
const SYMBOLS_BYTES = 4 * 16_400;
/** The module reads and writes at most this many bytes after the end of a window or a block. */
const SLACK_BYTES = 64;

const encoderModule = compileOnce(ENCODER_BASE64);

/**
 * Makes deflate blocks of parts of a window of bytes. Its memory, about four times the largest window, is freed only
 * when the encoder is garbage.
 */
export class DeflateEncoder {
  readonly #scratch = newScratch();
  readonly #module: EncoderModule;
  #outputAt = 0;

  constructor() {
    const { exports } = new WebAssembly.Instance(encoderModule(), { memories: { own: this.#scratch.memory } });
    this.#module = exports as unknown as EncoderModule;
  }

  /** Copies another window into the encoder. Throws OperationError `file` if there is not enough memory. */
  open(window: Uint8Array): void {
    const beforeAt = align(WINDOW_AT + window.length + SLACK_BYTES);
    const symbolsAt = align(beforeAt + 2 * window.length);
    this.#outputAt = symbolsAt + SYMBOLS_BYTES;
    const bytes = this.#outputAt + deflatedBytesMax(window.length);
    attempt(`cannot deflate records (${bytes} bytes of memory)`, () => reserve(this.#scratch, bytes));
    this.#scratch.bytes.set(window, WINDOW_AT);
    this.#module.open(WINDOW_AT, beforeAt, symbolsAt);
  }

  /** Lets later blocks refer to the bytes between two positions. Add records in order, each before its own block. */
  add(from: number, to: number): void {
    this.#module.chain(from, to);
  }

  /**
   * The bytes between two positions as deflate blocks, none of them the final one. The header of a stored block
   * follows, up to a whole byte. The result is valid until the next call. The blocks may refer to added bytes from
   * `low` on, and do not depend on any bytes before `low` or after `to`. Cost: a few us, plus about 10 ns a byte.
   */
  block(from: number, to: number, low: number): Uint8Array {
    return this.#scratch.bytes.subarray(this.#outputAt, this.#module.deflate(from, to, low, this.#outputAt));
  }
}

/**
 * Upper bound of the output: at most nine bits a byte with the fixed codes, plus a few bits per block and at the end.
 */
function deflatedBytesMax(bytes: number): number {
  return bytes + (bytes >> 3) + (bytes >> 12) + SLACK_BYTES;
}

function align(at: number): number {
  return (at + 7) & ~7;
}

// Indents compact JSON for people who request `pretty=1`: with line feeds and two blanks per level. It reads only the
// structural characters of JSON, so that every number and string keeps its spelling.
import { type Body, wholeBody } from './envelope.ts';
import type { Measuring } from './gather.ts';
import { measured } from './rows.ts';

/** Longer texts stay compact. People read only the first screens, and 1 MiB of records takes 10 ms. */
const COMPACT_BYTES_MAX = 1 << 20;
/** Texts whose indented form would be longer stay compact too, as with deep nesting. */
const INDENTED_BYTES_MAX = 8 << 20;
/** Bytes of the compact text that are indented in one slice: about 0.5 ms. For a slow body, a slice is one piece. */
const SLICE_BYTES = 1 << 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BLANK = 0x20;
const LINE_FEED = 0x0a;
const BLANKS_A_LEVEL = 2;

/** Indents a body, slice by slice after it is measured. Cost: its bytes, and a copy of them. */
export function indented(compact: Measuring): Measuring {
  let body: Body | undefined;
  let text: IndentedText | undefined;
  let offset = 0;
  return () => {
    if (!body) {
      body = compact();
      if (body?.isSlow && body.bytes <= COMPACT_BYTES_MAX) return undefined;
    }
    if (!body || body.isTooLarge || body.bytes > COMPACT_BYTES_MAX) return body;
    text ??= new IndentedText(body.bytes);
    const until = Math.min(body.bytes, offset + SLICE_BYTES);
    while (offset < until) {
      const piece = body.pieceAt(offset).subarray(0, until - offset);
      text.add(piece);
      offset += piece.length;
      if (body.isSlow) break;
    }
    if (text.bytes > INDENTED_BYTES_MAX) return body;
    return offset === body.bytes ? text.body() : undefined;
  };
}

/** Indents a small body at once. */
export function indentedAtOnce(compact: Body): Body {
  return measured(indented(() => compact));
}

class IndentedText {
  bytes = 0;
  #text: Uint8Array;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** Whether the last byte was an opening bracket, which may be closed next. */
  #isOpen = false;

  constructor(compactBytes: number) {
    this.#text = new Uint8Array(compactBytes * 2);
  }

  add(piece: Uint8Array): void {
    for (let i = 0; i < piece.length && this.bytes <= INDENTED_BYTES_MAX; i++) {
      const byte = piece[i]!;
      if (this.#isInText) this.#addInText(byte);
      else this.#addMark(byte);
    }
  }

  body(): Body {
    return wholeBody(this.#text.subarray(0, this.bytes));
  }

  #addInText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInText = false;
    this.#put(byte);
  }

  #addMark(byte: number): void {
    const isClosing = byte === 0x5d || byte === 0x7d;
    if (isClosing) this.#depth--;
    if (this.#isOpen !== isClosing) this.#breakLine();
    this.#isOpen = byte === 0x5b || byte === 0x7b;
    this.#put(byte);
    if (this.#isOpen) this.#depth++;
    else if (byte === QUOTE) this.#isInText = true;
    else if (byte === COMMA) this.#breakLine();
    else if (byte === COLON) this.#put(BLANK);
  }

  #breakLine(): void {
    const blanks = this.#depth * BLANKS_A_LEVEL;
    this.#reserve(blanks + 1);
    this.#text[this.bytes++] = LINE_FEED;
    this.#text.fill(BLANK, this.bytes, this.bytes + blanks);
    this.bytes += blanks;
  }

  #put(byte: number): void {
    this.#reserve(1);
    this.#text[this.bytes++] = byte;
  }

  #reserve(bytes: number): void {
    if (this.bytes + bytes <= this.#text.length) return;
    const text = new Uint8Array((this.bytes + bytes) * 2);
    text.set(this.#text.subarray(0, this.bytes));
    this.#text = text;
  }
}

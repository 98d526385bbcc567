// JSON for people: a compact text with line feeds and two blanks a level, as `pretty=1` asks for it. Knows the marks of
// JSON and nothing of its values, so that every number and string stays as it is written.
import { type Body, wholeBody } from './envelope.ts';
import type { Measuring } from './gather.ts';
import { measured } from './rows.ts';

/** Longer texts stay compact: people read the first screens, and 1 MiB of records take 10 ms. */
const COMPACT_BYTES_MAX = 1 << 20;
/** So do those that blanks would make longer than this, as deep nesting can. */
const INDENTED_BYTES_MAX = 8 << 20;
/** Bytes of the compact text that are indented in one slice: about 0.5 ms. Of one that is slow to read, one piece. */
const SLICE_BYTES = 1 << 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BLANK = 0x20;
const LINE_FEED = 0x0a;
const BLANKS_A_LEVEL = 2;

/** The same body indented, slice by slice behind its own measuring. Cost: its bytes, and a copy of them. */
export function indented(compact: Measuring): Measuring {
  let body: Body | undefined;
  let text: IndentedText | undefined;
  let offset = 0;
  return () => {
    if (!body) {
      body = compact();
      if (body?.isSlow && body.bytes <= COMPACT_BYTES_MAX) return undefined;
    }
    if (!body || body.bytes > COMPACT_BYTES_MAX) return body;
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

/** A small body indented, all of it at once. */
export function indentedAtOnce(compact: Body): Body {
  return measured(indented(() => compact));
}

class IndentedText {
  bytes = 0;
  #text: Uint8Array;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** Behind an opening bracket, whose closing one may follow. */
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

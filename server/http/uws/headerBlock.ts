// The header lines of an answer as bytes, checked and remembered: for a transport that writes them in one call. Knows
// no transport. Without the memory a record costs 1.50 times the instructions, a page of one 1.24, getTrustedHostInfo
// 1.10.
import { assertHeaderValue } from '../answerHead.ts';
import type { Answer } from '../exchange.ts';

/** How many header lists are remembered: the few that never change, with room for some made for one answer. */
const REMEMBERED = 4;

/**
 * Turns header lists into blocks. Handlers use the same list for most answers, so the last few are known again by
 * identity. A list must not be changed once it was used.
 */
export class HeaderBlocks {
  readonly #lists: Answer['headers'][] = [];
  readonly #blocks: (HeaderBlock | undefined)[] = [];
  #next = 0;

  /** The block of a list, undefined of an empty one. Throws where a value would leave its line. */
  of(headers: Answer['headers']): HeaderBlock | undefined {
    for (let i = 0; i < this.#lists.length; i++) if (this.#lists[i] === headers) return this.#blocks[i];
    const block = headers.length === 0 ? undefined : new HeaderBlock(headers);
    this.#lists[this.#next] = headers;
    this.#blocks[this.#next] = block;
    this.#next = (this.#next + 1) % REMEMBERED;
    return block;
  }
}

const ETAG = '\r\nETag: ';
const TOTAL_COUNT = '\r\nX-Total-Count: ';
const BLANK = 0x20;
const DELETE = 0x7f;

/**
 * All header lines: the first one's name, and its value followed by the other lines, with CR LF between them. As bytes,
 * since the library encodes and copies each text that it is given. What differs from answer to answer is written behind
 * the lines where it stands last: what `taggedWith` answers holds until the next call.
 */
export class HeaderBlock {
  readonly name: Uint8Array;
  readonly lines: Uint8Array;
  /** By the digits of the count. */
  readonly #tagged: (Uint8Array | undefined)[] = [];

  /** Throws where a value would leave its line. */
  constructor(headers: Answer['headers']) {
    const lines = headers.map(([name, value], i) => {
      assertHeaderValue(name, value);
      return i === 0 ? value : `${name}: ${value}`;
    });
    this.name = Buffer.from(headers[0]![0]);
    this.lines = Buffer.from(lines.join('\r\n'));
  }

  /**
   * The lines with an entity tag, quotes included, and the count of a whole list. Throws where the tag would leave its
   * line. Cost: their characters.
   */
  taggedWith(etag: string, totalCount: number | undefined): Uint8Array {
    const digits = totalCount === undefined ? '' : String(totalCount);
    const tagged = this.#roomFor(etag.length, digits.length);
    const tagAt = this.lines.length + ETAG.length;
    for (let i = 0; i < etag.length; i++) {
      const unit = etag.charCodeAt(i);
      if (unit < BLANK || unit >= DELETE) return this.#unusual(etag, digits);
      tagged[tagAt + i] = unit;
    }
    const digitsAt = tagged.length - digits.length;
    for (let i = 0; i < digits.length; i++) tagged[digitsAt + i] = digits.charCodeAt(i);
    return tagged;
  }

  /** Everything but tag and digits, with room for these; the same bytes for the same lengths, which are few. */
  #roomFor(tagLength: number, digits: number): Uint8Array {
    const bytes = this.lines.length + ETAG.length + tagLength + (digits === 0 ? 0 : TOTAL_COUNT.length + digits);
    const known = this.#tagged[digits];
    if (known?.length === bytes) return known;
    const count = digits === 0 ? '' : TOTAL_COUNT + ' '.repeat(digits);
    return (this.#tagged[digits] = Buffer.concat([this.lines, Buffer.from(ETAG + ' '.repeat(tagLength) + count)]));
  }

  #unusual(etag: string, digits: string): Uint8Array {
    assertHeaderValue('ETag', etag);
    return Buffer.concat([this.lines, Buffer.from(ETAG + etag + (digits === '' ? '' : TOTAL_COUNT + digits))]);
  }
}

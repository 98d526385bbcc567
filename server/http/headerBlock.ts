// The header lines of an answer as one text, checked and remembered: for a transport that writes them in one call.
// Knows no transport; called once per answer by http/uwsExchange.ts.
import { assertHeaderValue } from './answerHead.ts';
import type { Answer } from './exchange.ts';

/** All header lines: the first one's name, and its value followed by the other lines, with CR LF between them. */
export interface HeaderBlock {
  readonly name: string;
  readonly lines: string;
}

/** How many header lists are remembered: the few that never change, with room for some made for one answer. */
const REMEMBERED = 4;

/**
 * Turns header lists into blocks. Handlers use the same list for most answers, so the last few are known again by
 * identity: five lines then cost 5 ns instead of 200. A list must not be changed once it was used.
 */
export class HeaderBlocks {
  readonly #lists: Answer['headers'][] = [];
  readonly #blocks: (HeaderBlock | undefined)[] = [];
  #next = 0;

  /** The block of a list, undefined of an empty one. Throws where a value would leave its line. */
  of(headers: Answer['headers']): HeaderBlock | undefined {
    for (let i = 0; i < this.#lists.length; i++) if (this.#lists[i] === headers) return this.#blocks[i];
    const block = headerBlock(headers);
    this.#lists[this.#next] = headers;
    this.#blocks[this.#next] = block;
    this.#next = (this.#next + 1) % REMEMBERED;
    return block;
  }
}

function headerBlock(headers: Answer['headers']): HeaderBlock | undefined {
  const [first] = headers;
  if (first === undefined) return undefined;
  const lines = headers.map(([name, value], i) => {
    assertHeaderValue(name, value);
    return i === 0 ? value : `${name}: ${value}`;
  });
  return { name: first[0], lines: lines.join('\r\n') };
}

// Requests that are known by their text, so that one that comes again is neither parsed nor planned: the tag of its
// answer, and the answer itself where it is a view of the snapshot and asked for often. Holds no bytes of a page, knows
// no routes and no queries; of one snapshot and one thread.
import type { BaseUrlChoice } from './baseUrl.ts';
import type { Coding } from './coding.ts';
import { negotiate } from './negotiate.ts';
import type { Answer, Request } from '../http/exchange.ts';
import { Memory } from '../http/memory.ts';

/** The longest text, and the most bytes beside it, of what is kept: the links of a page are a few hundred. */
const TEXT_CHARACTERS_MAX = 512;
const OWN_BYTES_MAX = 4096;
/**
 * What an entry takes beside its text, and an answer beside its own bytes: a page with its views (measured: 0.9 kB).
 */
const ENTRY_BYTES = 256;
const ANSWER_BYTES = 1024;
/** The least room: tags are kept for clients that revalidate even where no answers are. */
const TAGS_BYTES_MAX = 2 << 20;
/** Tags of which is known whether they were met: a word each, 32 kB. */
const MET_TAGS = 8192;
const TAG_DIGITS_READ = 8;
const MARKED_UNITS = 8;
/** So many marks that hardly a text that is not known has one of those that are: 128 kB. */
const MARKS = 65_536;
/**
 * Of the answers that come again one in so many is kept: what is asked for often soon is, and a walk in circles costs
 * little.
 */
const KEPT_ONE_IN = 8;

/** What an answer depends on beside the text of its request. */
export interface Asked {
  readonly request: Request;
  readonly choice: BaseUrlChoice;
  readonly coding: Coding;
}

/**
 * A request that is answered with 200 under this tag, without quotes. `heedsAccept` unless its path or format override
 * Accept.
 */
export interface KnownRequest {
  readonly tag: string;
  readonly heedsAccept: boolean;
  readonly answer?: Answer;
}

/** A memory for tags and answers. An answer is kept only where its tag was met before: a walk leaves nothing behind. */
export class RequestMemory {
  readonly #keepsAnswers: boolean;
  readonly #memory: Memory<KnownRequest>;
  readonly #marks = new Map<BaseUrlChoice, string>();
  readonly #met = new Uint32Array(MET_TAGS);
  #again = 0;

  /** Keeps no answers where there are 0 bytes for them. */
  constructor(answerBytesMax: number) {
    this.#keepsAnswers = answerBytesMax > 0;
    this.#memory = new Memory(Math.max(TAGS_BYTES_MAX, answerBytesMax), MARKS);
  }

  /**
   * What is known of GET or HEAD where Accept takes JSON, else undefined. Cost: its end; of a known one a look-up or
   * two of the text.
   */
  find(asked: Asked): KnownRequest | undefined {
    const { request } = asked;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    if (!this.#memory.mayHave(markOf(request))) return undefined;
    const known = this.#memory.find(this.#textOf(asked));
    return known && (!known.heedsAccept || welcomesJson(request)) ? known : undefined;
  }

  /**
   * Whether an answer under this tag is to be kept now: one in eight of those whose tags were met before, as far as is
   * remembered; from now on this one was. Cost: 16 digits.
   */
  isDue(tag: string): boolean {
    if (!this.#keepsAnswers) return false;
    const word = wordOf(tag, tag.length - TAG_DIGITS_READ);
    const place = wordOf(tag, tag.length - 2 * TAG_DIGITS_READ) % MET_TAGS;
    if (this.#met[place] === word) return ++this.#again % KEPT_ONE_IN === 0;
    this.#met[place] = word;
    return false;
  }

  /**
   * Keeps what `find` did not find: true of every request of this text, base URL, coding and Accept. The body of an
   * answer must hold views of the snapshot and `ownBytes` beside them, and may be read at any time.
   */
  keep(asked: Asked, known: KnownRequest, ownBytes = 0): void {
    const text = this.#textOf(asked);
    if (text.length > TEXT_CHARACTERS_MAX || ownBytes > OWN_BYTES_MAX) return;
    const answerBytes = known.answer ? ANSWER_BYTES + ownBytes : 0;
    this.#memory.keep(text, known, text.length + ENTRY_BYTES + answerBytes, markOf(asked.request));
  }

  /**
   * All that a known request is told apart by, in one text. A path holds no question mark, so that no two requests
   * share one.
   */
  #textOf({ request: { target, query }, choice, coding }: Asked): string {
    let mark = this.#marks.get(choice);
    if (mark === undefined) this.#marks.set(choice, (mark = `${this.#marks.size} `));
    return mark + coding + (query === undefined ? target : `${target}?${query}`);
  }
}

/**
 * A number for the end of a request's text, where offsets and ids stand: whether it may be known is seen without a
 * copy.
 */
function markOf({ target, query }: Request): number {
  const end = query || target;
  let mark = target.length;
  for (let i = Math.max(0, end.length - MARKED_UNITS); i < end.length; i++) {
    mark = (Math.imul(mark, 31) + end.charCodeAt(i)) | 0;
  }
  return Math.imul(mark, 0x9e3779b1) >>> 16;
}

/** Whether a request whose path and query say nothing of the form of its answer takes JSON. Cost: see negotiate.ts. */
function welcomesJson(request: Request): boolean {
  return negotiate({ accept: request.header('accept'), format: undefined, isJsonPath: false }) === 'json';
}

/** Eight hexadecimal digits, in lower case, as a number. */
function wordOf(digits: string, start: number): number {
  let word = 0;
  for (let i = start; i < start + TAG_DIGITS_READ; i++) {
    const unit = digits.charCodeAt(i);
    // Letters have a bit that digits have not.
    word = (word << 4) | ((unit & 15) + 9 * (unit >> 6));
  }
  return word >>> 0;
}

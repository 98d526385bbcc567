// Answers that are asked for again and again, by the text of their requests: pages and records that are views of the
// snapshot. Holds no bytes of a page, knows no routes and no queries; of one snapshot and one thread.
import type { BaseUrlChoice } from './baseUrl.ts';
import type { Coding } from './coding.ts';
import { textOf, welcomesJson } from './conditional.ts';
import type { Answer, Request } from '../http/exchange.ts';

/**
 * The longest text, and the most bytes beside the text, of an answer that is kept: the links of a page are a few
 * hundred.
 */
const TEXT_CHARACTERS_MAX = 512;
const OWN_BYTES_MAX = 4096;
/**
 * What an answer takes beside its text and its own bytes: a page with its views, its tag and their places (measured:
 * 0.9 kB).
 */
const ANSWER_BYTES = 1024;
/** Tags of which is known whether they were met: a word each, 32 kB. */
const MET_TAGS = 8192;
const TAG_DIGITS_READ = 8;
/** Marks of the texts that a half keeps: a few thousand of so many, so that hardly a new text has one. 64 kB. */
const MARKS = 65_536;
const MARKED_UNITS = 8;
/**
 * Of the answers that come again one in so many is kept: what is asked for often soon is, and a walk in circles costs
 * little.
 */
const KEPT_ONE_IN = 8;

/** What an answer depends on beside the text of its request. `heedsAccept` unless path or format override Accept. */
export interface Asked {
  readonly request: Request;
  readonly choice: BaseUrlChoice;
  readonly coding: Coding;
  readonly heedsAccept: boolean;
}

/**
 * An answer, and the next one to the same text: for another base URL or another coding, so that there are a few at
 * most.
 */
interface KnownAnswer extends Pick<Asked, 'choice' | 'coding' | 'heedsAccept'> {
  readonly answer: Answer;
  readonly bytes: number;
  readonly next: KnownAnswer | undefined;
}

/**
 * A memory of two halves: what is found in the older half moves to the younger one, and when that is full the older
 * half goes. An answer is kept only where its tag was met before, so that who walks over a list once leaves nothing
 * behind.
 */
export class KnownAnswers {
  readonly #halfBytesMax: number;
  readonly #codingOf: (request: Request) => Coding;
  readonly #met = new Uint32Array(MET_TAGS);
  #youngMarks = new Uint8Array(MARKS);
  #oldMarks = new Uint8Array(MARKS);
  #young = new Map<string, KnownAnswer>();
  #old = new Map<string, KnownAnswer>();
  #youngBytes = 0;
  #again = 0;

  /** Keeps nothing where there are 0 bytes. `codingOf` says which coding an answer to a request has. */
  constructor(bytesMax: number, codingOf: (request: Request) => Coding) {
    this.#halfBytesMax = bytesMax / 2;
    this.#codingOf = codingOf;
  }

  /**
   * The answer to GET or HEAD without a condition, undefined where it is not known, or Accept must be judged. Cost: a
   * few characters of a text that is not known; else a look-up or two of the text, and two headers.
   */
  find(request: Request, choice: BaseUrlChoice): Answer | undefined {
    const mark = markOf(request);
    if ((this.#youngMarks[mark]! | this.#oldMarks[mark]!) === 0) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    const text = textOf(request);
    let known = this.#young.get(text) ?? this.#revived(text, mark);
    if (known === undefined) return undefined;
    const coding = this.#codingOf(request);
    while (known && (known.choice !== choice || known.coding !== coding)) known = known.next;
    return known && (!known.heedsAccept || welcomesJson(request)) ? known.answer : undefined;
  }

  /**
   * Whether an answer under this tag is to be kept now: one in eight of those whose tags were met before, as far as is
   * remembered; from now on this one was. Cost: 16 digits.
   */
  isDue(tag: string): boolean {
    if (this.#halfBytesMax === 0) return false;
    const word = wordOf(tag, tag.length - TAG_DIGITS_READ);
    const place = wordOf(tag, tag.length - 2 * TAG_DIGITS_READ) % MET_TAGS;
    if (this.#met[place] === word) return ++this.#again % KEPT_ONE_IN === 0;
    this.#met[place] = word;
    return false;
  }

  /**
   * Keeps an answer that `find` did not find: 200, the same for every request of this text, base URL, coding and
   * Accept. Its body must hold views of the snapshot and `ownBytes` beside them, and may be read at any time.
   */
  keep({ request, choice, coding, heedsAccept }: Asked, answer: Answer, ownBytes: number): void {
    const text = textOf(request);
    if (text.length > TEXT_CHARACTERS_MAX || ownBytes > OWN_BYTES_MAX) return;
    const next = this.#young.get(text);
    const bytes = text.length + ownBytes + ANSWER_BYTES + (next?.bytes ?? 0);
    this.#put(text, markOf(request), { choice, coding, heedsAccept, answer, bytes, next });
  }

  #revived(text: string, mark: number): KnownAnswer | undefined {
    const known = this.#old.get(text);
    if (known) this.#put(text, mark, known);
    return known;
  }

  /** `bytes` of an answer are those of all to its text. */
  #put(text: string, mark: number, known: KnownAnswer): void {
    const bytes = known.bytes - (known.next && this.#young.has(text) ? known.next.bytes : 0);
    if (this.#youngBytes + bytes > this.#halfBytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      [this.#youngMarks, this.#oldMarks] = [this.#oldMarks.fill(0), this.#youngMarks];
      this.#youngBytes = known.bytes;
    } else this.#youngBytes += bytes;
    this.#youngMarks[mark] = 1;
    this.#young.set(text, known);
  }
}

/**
 * A number for the end of a request's text: there offsets and ids stand. A text is joined and looked up only where it
 * is marked.
 */
function markOf({ target, query }: Request): number {
  const end = query || target;
  let mark = target.length;
  for (let i = Math.max(0, end.length - MARKED_UNITS); i < end.length; i++) {
    mark = (Math.imul(mark, 31) + end.charCodeAt(i)) | 0;
  }
  return Math.imul(mark, 0x9e3779b1) >>> 16;
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

// Requests that are known by their text, so that one that comes again is neither parsed nor planned: the tag of its
// answer, and the answer itself where it is a view of the snapshot and asked for often. Holds no bytes of a page, knows
// no routes and no queries; of one snapshot and one thread. Without it a page that comes again costs 1.5 times the
// instructions.
import type { BaseUrlChoice } from './baseUrl.ts';
import { type Coding, negotiate } from './negotiate.ts';
import type { Answer, Request } from '../http/exchange.ts';
import { Memory } from '../http/memory.ts';

/** The longest text, and the most bytes beside it, of what is kept: the links of a page are a few hundred. */
const TEXT_CHARACTERS_MAX = 512;
const OWN_BYTES_MAX = 4096;
/** Bytes of an entry besides its text, and of a response besides its own bytes (measured: 0.9 kB for a page). */
const ENTRY_BYTES = 256;
const ANSWER_BYTES = 1024;
/** The least room: tags are kept for clients that revalidate even where no answers are. */
const TAGS_BYTES_MAX = 2 << 20;
/** One response in this many is kept: with all, a walk over pages of one record would cost 1.28 times as much. */
const KEPT_ONE_IN = 8;

/** What an answer depends on beside the text of its request. */
export interface RequestContext {
  readonly request: Request;
  readonly choice: BaseUrlChoice;
  readonly coding: Coding;
}

/**
 * A request that is answered with 200 under this tag, without quotes. Where it `isForeseen` nobody has made the body
 * for this coding yet, and the tag does not say how it is made. `heedsAccept` unless its path or format override
 * Accept. `route` is what it was told when it was kept.
 */
export interface KnownRequest {
  readonly tag: string;
  readonly isForeseen?: boolean;
  readonly heedsAccept: boolean;
  readonly answer?: Answer;
  readonly route?: number | undefined;
}

export interface MemoryStatistics {
  readonly hits: number;
  readonly misses: number;
}

export class RequestMemory implements MemoryStatistics {
  hits = 0;
  misses = 0;
  /** Else there is nothing but tags, which only a request with a condition has use for. */
  readonly keepsAnswers: boolean;
  readonly #memory: Memory<KnownRequest>;
  readonly #marks = new Map<BaseUrlChoice, Readonly<Record<Coding, string>>>();
  #made = 0;

  /** Keeps no answers where there are 0 bytes for them. */
  constructor(answerBytesMax: number) {
    this.keepsAnswers = answerBytesMax > 0;
    this.#memory = new Memory(Math.max(TAGS_BYTES_MAX, answerBytesMax));
  }

  /** What is known of a GET or HEAD whose Accept takes JSON. Cost: one or two look-ups. */
  find(asked: RequestContext): KnownRequest | undefined {
    const { request } = asked;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    const known = this.#memory.find(this.#textOf(asked));
    if (known && (!known.heedsAccept || welcomesJson(request))) {
      this.hits++;
      return known;
    }
    this.misses++;
    return undefined;
  }

  /** Whether the answer that is being made is to be kept: one in eight. */
  isDue(): boolean {
    return this.keepsAnswers && ++this.#made % KEPT_ONE_IN === 0;
  }

  /** The body must consist of views of the snapshot and `ownBytes` of its own, and may be read at any time. */
  keep(asked: RequestContext, known: KnownRequest, ownBytes = 0): void {
    const text = this.#textOf(asked);
    if (text.length > TEXT_CHARACTERS_MAX || ownBytes > OWN_BYTES_MAX) return;
    const answerBytes = known.answer ? ANSWER_BYTES + ownBytes : 0;
    this.#memory.keep(text, { ...known, route: asked.request.route }, text.length + ENTRY_BYTES + answerBytes);
  }

  /** The key of a request. A path has no question mark, so that no two requests share a key. */
  #textOf({ request: { target, query }, choice, coding }: RequestContext): string {
    let marks = this.#marks.get(choice);
    if (marks === undefined) this.#marks.set(choice, (marks = marksOf(this.#marks.size)));
    return query === undefined ? marks[coding] + target : `${marks[coding]}${target}?${query}`;
  }
}

function marksOf(number: number): Readonly<Record<Coding, string>> {
  return { identity: `${number} `, gzip: `${number} gzip`, gzipOnly: `${number} gzipOnly` };
}

/** Whether a request whose path and query say nothing of the form of its answer takes JSON. Cost: see negotiate.ts. */
function welcomesJson(request: Request): boolean {
  return (
    negotiate({ accept: request.header('accept'), format: undefined, ending: undefined, mayExport: true }) === 'json'
  );
}

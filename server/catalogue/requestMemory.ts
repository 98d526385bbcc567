// A cache of requests by their text, so that a repeated one is neither parsed nor planned. It holds the tag of the
// response and, for frequent requests, the response itself if it is a view of the snapshot. It holds no bytes of pages.
// One per snapshot and thread. Without it a repeated page costs 1.5 times the instructions.
import type { BaseUrlChoice } from './baseUrl.ts';
import { type Coding, negotiate } from './negotiate.ts';
import type { Answer, Request } from '../http/exchange.ts';
import { Memory } from '../http/memory.ts';

/**
 * The longest text of a cached request, and the most bytes in addition to the snapshot: the links of a page are a few
 * hundred.
 */
const TEXT_CHARACTERS_MAX = 512;
const OWN_BYTES_MAX = 4096;
/** Bytes of an entry without its text, and of a response without its separate bytes (measured: 0.9 kB for a page). */
const ENTRY_BYTES = 256;
const ANSWER_BYTES = 1024;
/** Minimum size of the cache: tags are kept for clients that revalidate, even if no responses are. */
const TAGS_BYTES_MAX = 2 << 20;
/** One response in this many is cached. If all were, a walk over pages of one record would cost 1.28 times as much. */
const KEPT_ONE_IN = 8;

/** The inputs of a response in addition to the text of its request. */
export interface RequestContext {
  readonly request: Request;
  readonly choice: BaseUrlChoice;
  readonly coding: Coding;
}

/** A request whose response is a 200 with this tag. */
export interface KnownRequest {
  /** Without quotes. */
  readonly tag: string;
  /** No body exists in this coding yet, so the tag does not name how it was made. */
  readonly isForeseen?: boolean;
  /** False if its path or format override Accept. */
  readonly dependsOnAccept: boolean;
  readonly answer?: Answer;
  /** The route of the cached request. */
  readonly route?: number | undefined;
}

export interface MemoryStatistics {
  readonly hits: number;
  readonly misses: number;
}

export class RequestMemory implements MemoryStatistics {
  hits = 0;
  misses = 0;
  /** Otherwise there are only tags, which only conditional requests use. */
  readonly keepsAnswers: boolean;
  readonly #memory: Memory<KnownRequest>;
  readonly #marks = new Map<BaseUrlChoice, Readonly<Record<Coding, string>>>();
  #made = 0;

  /** With 0 bytes no responses are cached. */
  constructor(answerBytesMax: number) {
    this.keepsAnswers = answerBytesMax > 0;
    this.#memory = new Memory(Math.max(TAGS_BYTES_MAX, answerBytesMax));
  }

  /** Looks up a GET or HEAD whose Accept allows JSON. Cost: one or two lookups. */
  find(asked: RequestContext): KnownRequest | undefined {
    const { request } = asked;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    const known = this.#memory.find(this.#textOf(asked));
    if (known && (!known.dependsOnAccept || acceptsJson(request))) {
      this.hits++;
      return known;
    }
    this.misses++;
    return undefined;
  }

  /** Whether to cache the response that is being made: one in eight. */
  isDue(): boolean {
    return this.keepsAnswers && ++this.#made % KEPT_ONE_IN === 0;
  }

  /** The body must consist of views of the snapshot and `ownBytes` other bytes, and must be readable at any time. */
  keep(asked: RequestContext, known: KnownRequest, ownBytes = 0): void {
    const text = this.#textOf(asked);
    if (text.length > TEXT_CHARACTERS_MAX || ownBytes > OWN_BYTES_MAX) return;
    const answerBytes = known.answer ? ANSWER_BYTES + ownBytes : 0;
    this.#memory.keep(text, { ...known, route: asked.request.route }, text.length + ENTRY_BYTES + answerBytes);
  }

  /** The key of a request. A path contains no question mark, so no two requests share a key. */
  #textOf({ request: { target, query }, choice, coding }: RequestContext): string {
    let marks = this.#marks.get(choice);
    if (marks === undefined) this.#marks.set(choice, (marks = marksOf(this.#marks.size)));
    return query === undefined ? marks[coding] + target : `${marks[coding]}${target}?${query}`;
  }
}

function marksOf(number: number): Readonly<Record<Coding, string>> {
  return { identity: `${number} `, gzip: `${number} gzip`, gzipOnly: `${number} gzipOnly` };
}

/** Whether a request accepts JSON, if path and query name no form. Cost: see negotiate.ts. */
function acceptsJson(request: Request): boolean {
  return (
    negotiate({ accept: request.header('accept'), format: undefined, ending: undefined, mayExport: true }) === 'json'
  );
}

// Conditional requests: the 304 to a client that has the answer already, before anything is looked up or put together.
// Judges nothing but the conditions: the handler asks once it knows that the answer would be 200.
import { parseInstant } from '../../engine/engine.ts';
import type { BaseUrlChoice } from './baseUrl.ts';
import { taggedAs, type Answers, type Made } from './answers.ts';
import { codingOf } from './negotiate.ts';
import { entityTags, type Tagged } from './entityTag.ts';
import type { Answer, Request } from '../http/exchange.ts';
import { parseHttpDate } from './httpDate.ts';

const MICROSECONDS = 1_000_000;
const COMPRESSED: readonly Made[] = ['stored', 'live'];

/**
 * What validators are made of. `settings` are those that answers depend on; `lastModified` is the time of the data in
 * seconds since 1970, where there is one to tell.
 */
export interface Validated {
  readonly generation: string;
  readonly settings: readonly unknown[];
  readonly lastModified: number | undefined;
  readonly isGzipOffered: boolean;
}

/**
 * The time of the data in seconds since 1970; undefined where it is not known, or later than `nowMs` (RFC 9110, 8.8.2.1
 * forbids to send it).
 */
export function lastModifiedSeconds(created: string | undefined, nowMs: number): number | undefined {
  const seconds = created === undefined ? NaN : Math.floor(parseInstant(created) / MICROSECONDS);
  return Number.isNaN(seconds) || seconds * 1000 > nowMs ? undefined : seconds;
}

/**
 * The conditions of requests for one snapshot. If-None-Match goes before If-Modified-Since (RFC 9110, 13.2.2), and of
 * several lines of either the first is read, as of every header (A100).
 */
export class Conditional {
  readonly #answers: Answers;
  readonly #tagOf: (tagged: Tagged) => string;
  readonly #lastModified: number | undefined;
  readonly #isGzipOffered: boolean;

  constructor({ generation, settings, lastModified, isGzipOffered }: Validated, answers: Answers) {
    this.#answers = answers;
    this.#tagOf = entityTags(generation, settings);
    this.#lastModified = lastModified;
    this.#isGzipOffered = isGzipOffered;
  }

  /** The tag of an answer, without quotes. Cost: see entityTag.ts. */
  tagOf(tagged: Tagged): string {
    return this.#tagOf(tagged);
  }

  /**
   * Whether a request has a condition that could be met; asked once for each, since most have none. Cost: two look-ups.
   */
  isConditional(request: Request): boolean {
    if (request.header('if-none-match') !== undefined) return true;
    return this.#lastModified !== undefined && request.header('if-modified-since') !== undefined;
  }

  /**
   * The 304 to a request that would be answered with 200 under this tag, or undefined. Cost: a look at a header or two.
   */
  unchanged(request: Request, { varies }: BaseUrlChoice, tag: string): Answer | undefined {
    const tags = request.header('if-none-match');
    const named = tags === undefined ? this.#ifNotModified(request, tag) : this.#namedIn(tags, tag, request);
    return named === undefined ? undefined : this.#answers.notModified(named, varies);
  }

  #ifNotModified(request: Request, tag: string): string | undefined {
    const since = parseHttpDate(request.header('if-modified-since') ?? '');
    return since !== undefined && this.#lastModified !== undefined && this.#lastModified <= since ? tag : undefined;
  }

  /**
   * Which of an answer's tags a client names: that of any body it takes, since each of them is the current one (A102).
   */
  #namedIn(tags: string, tag: string, request: Request): string | undefined {
    if (isNamedIn(tags, tag)) return tag;
    if (!this.#isGzipOffered || codingOf(request.header('accept-encoding')) === 'identity') return undefined;
    return COMPRESSED.map((made) => taggedAs(tag, made)).find((compressed) => isNamedIn(tags, compressed));
  }
}

/**
 * Whether If-None-Match names a tag: `*`, or the tag in quotes anywhere in the list, weak or not (weak comparison). No
 * tag can hold a quote, so that nothing else in a well-formed list looks like it. Source: RFC 9110, 8.8.3.2 and 13.1.2.
 */
export function isNamedIn(tags: string, tag: string): boolean {
  return tags.includes(`"${tag}"`) || tags.trim() === '*';
}

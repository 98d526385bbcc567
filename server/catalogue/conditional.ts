// Conditional requests: the 304 to a client that has the answer already, before anything is looked up or put together.
// Judges nothing but the conditions: the handler asks once it knows that the answer would be 200.
import { parseInstant } from '../../engine/engine.ts';
import { taggedAs, type Answers, type Making } from './answers.ts';
import type { Coding } from './negotiate.ts';
import { entityTags, type TagParts } from './entityTag.ts';
import type { Answer, Request } from '../http/exchange.ts';
import { parseHttpDate } from './httpDate.ts';

const MICROSECONDS = 1_000_000;
/** How a body may be made for a client that takes gzip, and for one that wants nothing else. */
const COMPRESSED: Readonly<Record<Coding, readonly Making[]>> = {
  identity: [],
  gzip: ['stored', 'live'],
  gzipOnly: ['stored', 'live', 'storedOnly', 'liveOnly'],
};

/**
 * What validators are made of. `settings` are those that answers depend on; `lastModified` is the time from which on
 * nothing has changed that they depend on, in seconds since 1970, where there is one to tell.
 */
export interface ValidatorParts {
  readonly generation: string;
  readonly settings: readonly unknown[];
  readonly lastModified: number | undefined;
}

/** What a request says of the answer that its client has: the tags, else that it is as new as ours. */
export type Precondition = { readonly tags: string } | 'sinceThen';

/**
 * From when on nothing has changed, in seconds since 1970: the time of the data, but no earlier than `sinceMs`, when
 * its answers were first made under the settings of now. Undefined where the time of the data is not known, or that is
 * later than `nowMs` (RFC 9110, 8.8.2.1 forbids to send it).
 */
export function lastModifiedSeconds(created: string | undefined, sinceMs: number, nowMs: number): number | undefined {
  const seconds = created === undefined ? NaN : Math.floor(parseInstant(created) / MICROSECONDS);
  const latest = Math.max(seconds, Math.floor(sinceMs / 1000));
  return Number.isNaN(seconds) || latest * 1000 > nowMs ? undefined : latest;
}

/**
 * The conditions of requests for one snapshot. If-None-Match goes before If-Modified-Since (RFC 9110, 13.2.2), and of
 * several lines of either the first is read, as of every header (A100).
 */
export class Conditional {
  readonly #answers: Answers;
  readonly #tagOf: (tagged: TagParts) => string;
  readonly #lastModified: number | undefined;

  constructor({ generation, settings, lastModified }: ValidatorParts, answers: Answers) {
    this.#answers = answers;
    this.#tagOf = entityTags(generation, settings);
    this.#lastModified = lastModified;
  }

  /** The tag of an answer, without quotes. Cost: see entityTag.ts. */
  tagOf(tagged: TagParts): string {
    return this.#tagOf(tagged);
  }

  /** The condition of a request, undefined where it has none that could be met. Cost: two look-ups. */
  conditionOf(request: Request): Precondition | undefined {
    const tags = request.header('if-none-match');
    if (tags !== undefined) return { tags };
    const since = this.#lastModified === undefined ? undefined : request.header('if-modified-since');
    return since !== undefined && (parseHttpDate(since) ?? -1) >= this.#lastModified! ? 'sinceThen' : undefined;
  }

  /** The 304 in place of a 200 with exactly this tag, without quotes; undefined where the condition is not met. */
  unchanged(condition: Precondition, varies: readonly string[], tag: string): Answer | undefined {
    return condition === 'sinceThen' || isNamedIn(condition.tags, tag)
      ? this.#answers.notModified(tag, varies)
      : undefined;
  }

  /**
   * The same before it is known how the body would be made for this coding: a tag that says so was given to the client
   * with this very body (A102). Undefined too where only the answer itself can tell.
   */
  foreseen(condition: Precondition, varies: readonly string[], coding: Coding, tag: string): Answer | undefined {
    if (coding === 'identity') return this.unchanged(condition, varies, tag);
    if (condition === 'sinceThen') return undefined;
    const named = COMPRESSED[coding]
      .map((made) => taggedAs(tag, made))
      .find((one) => condition.tags.includes(`"${one}"`));
    return named === undefined ? undefined : this.#answers.notModified(named, varies);
  }
}

/**
 * Whether If-None-Match names a tag: `*`, or the tag in quotes anywhere in the list, weak or not (weak comparison). No
 * tag can hold a quote, so that nothing else in a well-formed list looks like it. Source: RFC 9110, 8.8.3.2 and 13.1.2.
 */
export function isNamedIn(tags: string, tag: string): boolean {
  return tags.includes(`"${tag}"`) || tags.trim() === '*';
}

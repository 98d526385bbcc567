// Conditional requests: entity tags and 304. Replicas with the same generation and configuration have the same tags.
import { createHash } from 'node:crypto';
import { parseInstant, sortedByName } from '../../engine/engine.ts';
import { type Answers, type Making, parseHttpDate, entityTag } from './answers.ts';
import type { Coding } from './negotiate.ts';
import type { Answer, Request } from '../http/exchange.ts';

/** Raise it when the bytes of a response change for the same snapshot and request. A test compares their digest. */
export const FORM_VERSION = 16;

/** Digits for snapshot, settings and base URL: 64 bits. */
const SCOPE_DIGITS = 16;
const MULTIPLIER_A = 0x9e3779b1;
const MULTIPLIER_B = 0x85ebca77;
const DASH = 0x2d;
/** Ends a text. Larger than any UTF-16 unit. */
const END = 0x10000;

/** The inputs of a tag in addition to the snapshot. Parameters are decoded, in query order. */
export interface TagParts {
  readonly baseUrl: string;
  readonly path: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/**
 * Returns a function that makes the tags of one snapshot. `settings` are all that responses depend on. A tag has no
 * quotes; it is hexadecimal digits with one dash. Parameters are sorted by name, with repeated ones in order. Unknown
 * ones count too, because links repeat them. Equal tags mean equal bodies, except for hash collisions. Cost of a tag: a
 * pass over the texts.
 */
export function entityTags(generation: string, settings: readonly unknown[]): (tagged: TagParts) => string {
  const scopes = new Map<string, string>();
  const scopeOf = (baseUrl: string): string => {
    const known = scopes.get(baseUrl);
    if (known !== undefined) return known;
    const text = JSON.stringify([FORM_VERSION, generation, baseUrl, ...settings]);
    const scope = createHash('sha256').update(text).digest('hex').slice(0, SCOPE_DIGITS);
    scopes.set(baseUrl, scope);
    return scope;
  };
  return (tagged) => scopeOf(tagged.baseUrl) + hashOf(tagged);
}

/** Two hashes in parallel: each waits only for its multiplications. */
const hashes = { a: 0, b: 0 };

function hashOf({ path, parameters }: TagParts): string {
  hashes.a = MULTIPLIER_A;
  hashes.b = MULTIPLIER_B;
  mix(path);
  const sorted = sortedByName(parameters);
  for (let i = 0; i < sorted.length; i++) {
    mix(sorted[i]![0]);
    mix(sorted[i]![1]);
  }
  return digitsOf(scattered(hashes.a), scattered(hashes.b));
}

function mix(text: string): void {
  let { a, b } = hashes;
  for (let i = 0; i <= text.length; i++) {
    const unit = i === text.length ? END : text.charCodeAt(i);
    a = Math.imul(((a << 13) | (a >>> 19)) ^ unit, MULTIPLIER_A);
    b = Math.imul(((b << 13) | (b >>> 19)) ^ unit, MULTIPLIER_B);
  }
  hashes.a = a;
  hashes.b = b;
}

/** The last step of XXH32: makes every bit of a hash depend on every other. */
function scattered(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 15), MULTIPLIER_B);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae3d);
  return hash ^ (hash >>> 16);
}

/** A dash and the digits of two words in one call. With `toString(16)` a record costs 1.05 times as much. */
function digitsOf(a: number, b: number): string {
  return String.fromCharCode(
    DASH,
    digit(a >>> 28),
    digit((a >>> 24) & 15),
    digit((a >>> 20) & 15),
    digit((a >>> 16) & 15),
    digit((a >>> 12) & 15),
    digit((a >>> 8) & 15),
    digit((a >>> 4) & 15),
    digit(a & 15),
    digit(b >>> 28),
    digit((b >>> 24) & 15),
    digit((b >>> 20) & 15),
    digit((b >>> 16) & 15),
    digit((b >>> 12) & 15),
    digit((b >>> 8) & 15),
    digit((b >>> 4) & 15),
    digit(b & 15),
  );
}

function digit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value;
}

const MICROSECONDS = 1_000_000;
/** How bodies may be made for clients that accept gzip, and for those that accept nothing else. */
const COMPRESSED: Readonly<Record<Coding, readonly Making[]>> = {
  identity: [],
  gzip: ['stored', 'live'],
  gzipOnly: ['stored', 'live', 'storedOnly', 'liveOnly'],
};

interface ValidatorParts {
  readonly generation: string;
  readonly settings: readonly unknown[];
  /** Time in seconds since 1970 since which no response has changed. */
  readonly lastModified: number | undefined;
}

/** The client's cached response: by its tags, or by a date that is as recent as the current response. */
export type Precondition = { readonly tags: string } | 'sinceThen';

/**
 * Time of the last change in seconds since 1970: the time of the data, but not earlier than `sinceMs`, when the server
 * began to serve it with these settings. Undefined if the data has no time, or if the result is later than `nowMs`,
 * which RFC 9110, 8.8.2.1 forbids to send.
 */
export function lastModifiedSeconds(created: string | undefined, sinceMs: number, nowMs: number): number | undefined {
  const seconds = created === undefined ? NaN : Math.floor(parseInstant(created) / MICROSECONDS);
  const latest = Math.max(seconds, Math.floor(sinceMs / 1000));
  return Number.isNaN(seconds) || latest * 1000 > nowMs ? undefined : latest;
}

/**
 * If-None-Match takes precedence over If-Modified-Since (RFC 9110, 13.2.2). Only the first line of each is read (A100).
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

  /** The tag of a response, without quotes. Cost: see `entityTags`. */
  tagOf(tagged: TagParts): string {
    return this.#tagOf(tagged);
  }

  /** The condition of a request; undefined if it has none that can be met. Cost: two lookups. */
  conditionOf(request: Request): Precondition | undefined {
    const tags = request.header('if-none-match');
    if (tags !== undefined) return { tags };
    const since = this.#lastModified === undefined ? undefined : request.header('if-modified-since');
    return since !== undefined && (parseHttpDate(since) ?? -1) >= this.#lastModified! ? 'sinceThen' : undefined;
  }

  /** The 304 instead of a 200 with exactly this tag, which has no quotes; undefined if the condition is not met. */
  unchanged(condition: Precondition, varies: readonly string[], tag: string): Answer | undefined {
    return condition === 'sinceThen' || isNamedIn(condition.tags, tag)
      ? this.#answers.notModified(tag, varies)
      : undefined;
  }

  /** The same before the body's coding is known. A tag that names the coding was sent with this body (A102). */
  unchangedIfKnown(
    condition: Precondition,
    varies: readonly string[],
    coding: Coding,
    tag: string,
  ): Answer | undefined {
    if (coding === 'identity') return this.unchanged(condition, varies, tag);
    if (condition === 'sinceThen') return undefined;
    const named = COMPRESSED[coding]
      .map((made) => entityTag(tag, made))
      .find((one) => condition.tags.includes(`"${one}"`));
    return named === undefined ? undefined : this.#answers.notModified(named, varies);
  }
}

/**
 * Weak comparison. A tag contains no quote, so a substring search is exact. Source: RFC 9110, 13.1.2. The suffix that a
 * compressing proxy appends to a tag is ignored (A160).
 */
export function isNamedIn(tags: string, tag: string): boolean {
  return tags.includes(`"${tag}"`) || tags.trim() === '*' || tags.replace(PROXY_SUFFIX, '"').includes(`"${tag}"`);
}

/** `-gzip` and `;gzip` of Apache, and the suffixes of other compressing proxies. */
const PROXY_SUFFIX = /(?:[-;]gzip|-br|-zstd)"/g;

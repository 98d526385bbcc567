// Conditional requests: entity tags and 304. A tag is the same on every replica of one generation and one
// configuration.
import { createHash } from 'node:crypto';
import { parseInstant, sortedByName } from '../../engine/engine.ts';
import { type Answers, type Making, parseHttpDate, taggedAs } from './answers.ts';
import type { Coding } from './negotiate.ts';
import type { Answer, Request } from '../http/exchange.ts';

/** Raise it when the bytes of a response change for the same snapshot and request; a test compares their digest. */
export const FORM_VERSION = 11;

/** Digits of the part that stands for snapshot, settings and base URL: 64 bits. */
const SCOPE_DIGITS = 16;
const MULTIPLIER_A = 0x9e3779b1;
const MULTIPLIER_B = 0x85ebca77;
const DASH = 0x2d;
/** Ends a text: no unit of one is as large. */
const END = 0x10000;

/** What a tag stands for, besides the snapshot; decoded parameters in query order. */
export interface TagParts {
  readonly baseUrl: string;
  readonly path: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/**
 * Makes the tags of one snapshot under one configuration; `settings` are all that answers depend on. A tag is without
 * its quotes, hexadecimal digits with one dash. Parameters count sorted by name, repeats in order, the unknown ones too
 * since links repeat them. Equal tags mean equal bodies, hash collisions apart. Cost of a tag: a pass over the texts.
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

/** Two hashes at a time: each waits for its own multiplications only. */
const both = { a: 0, b: 0 };

function hashOf({ path, parameters }: TagParts): string {
  both.a = MULTIPLIER_A;
  both.b = MULTIPLIER_B;
  mix(path);
  const sorted = sortedByName(parameters);
  for (let i = 0; i < sorted.length; i++) {
    mix(sorted[i]![0]);
    mix(sorted[i]![1]);
  }
  return digitsOf(scattered(both.a), scattered(both.b));
}

function mix(text: string): void {
  let { a, b } = both;
  for (let i = 0; i <= text.length; i++) {
    const unit = i === text.length ? END : text.charCodeAt(i);
    a = Math.imul(((a << 13) | (a >>> 19)) ^ unit, MULTIPLIER_A);
    b = Math.imul(((b << 13) | (b >>> 19)) ^ unit, MULTIPLIER_B);
  }
  both.a = a;
  both.b = b;
}

/** Lets every bit of a hash depend on every other: the last step of XXH32. */
function scattered(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 15), MULTIPLIER_B);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae3d);
  return hash ^ (hash >>> 16);
}

/** The digits of two words behind a dash, made in one call: by `toString(16)` a record costs 1.05 times as much. */
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
/** How a body may be made for a client that takes gzip, and for one that wants nothing else. */
const COMPRESSED: Readonly<Record<Coding, readonly Making[]>> = {
  identity: [],
  gzip: ['stored', 'live'],
  gzipOnly: ['stored', 'live', 'storedOnly', 'liveOnly'],
};

/** `lastModified`: nothing that responses depend on has changed since, in seconds since 1970. */
interface ValidatorParts {
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

/** If-None-Match goes before If-Modified-Since (RFC 9110, 13.2.2). Only the first line of each is read (A100). */
export class Conditional {
  readonly #answers: Answers;
  readonly #tagOf: (tagged: TagParts) => string;
  readonly #lastModified: number | undefined;

  constructor({ generation, settings, lastModified }: ValidatorParts, answers: Answers) {
    this.#answers = answers;
    this.#tagOf = entityTags(generation, settings);
    this.#lastModified = lastModified;
  }

  /** The tag of an answer, without quotes. Cost: see `entityTags`. */
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

  /** The same before the coding of the body is known: a tag that names it was given with this body (A102). */
  foreseen(condition: Precondition, varies: readonly string[], coding: Coding, tag: string): Answer | undefined {
    if (coding === 'identity') return this.unchanged(condition, varies, tag);
    if (condition === 'sinceThen') return undefined;
    const named = COMPRESSED[coding]
      .map((made) => taggedAs(tag, made))
      .find((one) => condition.tags.includes(`"${one}"`));
    return named === undefined ? undefined : this.#answers.notModified(named, varies);
  }
}

/** Weak comparison. A tag has no quote, so that it is found anywhere in the list. Source: RFC 9110, 13.1.2. */
export function isNamedIn(tags: string, tag: string): boolean {
  return tags.includes(`"${tag}"`) || tags.trim() === '*';
}

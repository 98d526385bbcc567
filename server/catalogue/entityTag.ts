// The entity tags of answers: what a tag is made of. Pure but for SHA-256 at start; the same on every replica of one
// generation and one configuration.
import { createHash } from 'node:crypto';
import { sortedByName } from '../../engine/engine.ts';

/**
 * Raise it when the bytes of an answer change for the same snapshot and request. It comes with a new digest of those
 * bytes, which a test compares.
 */
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

/** A dash and 16 digits. */
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

/** The code of a hexadecimal digit. */
function digit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value;
}

// The entity tags of answers: what a tag is made of, and whether those that a client sends name it.
// Pure but for SHA-256 at start; the same on every replica of one generation and one configuration. Called by conditional.ts.
import { createHash } from 'node:crypto';

/** Raise it when the bytes of an answer change for the same snapshot and request. */
const FORM_VERSION = 1;

/** Digits of the part that stands for snapshot, settings and base URL: 64 bits. */
const SCOPE_DIGITS = 16;
const HASH_DIGITS = 8;
const MULTIPLIERS = [0x9e3779b1, 0x85ebca77] as const;
/** Ends a text: no unit of one is as large. */
const END = 0x10000;

/** What a tag stands for, beside the snapshot: decoded parameters in query order, and the keys of the filters that apply. */
export interface Tagged {
  readonly baseUrl: string;
  readonly path: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly filters: readonly { readonly key: string }[];
}

/**
 * Makes the tags of one snapshot under one configuration; `settings` are all that answers depend on. A tag is without its
 * quotes, hexadecimal digits with one dash. Parameters count sorted by name, repeats in order, the unknown ones too since links
 * repeat them. Equal tags mean equal bodies, hash collisions apart: of filters on one field under different names the last
 * one of the query wins, so that those which apply count as well. Cost of a tag: a pass over the texts.
 */
export function entityTags(generation: string, settings: readonly unknown[]): (tagged: Tagged) => string {
  const scopes = new Map<string, string>();
  const scopeOf = (baseUrl: string): string => {
    const known = scopes.get(baseUrl);
    if (known !== undefined) return known;
    const text = JSON.stringify([FORM_VERSION, generation, baseUrl, ...settings]);
    const scope = createHash('sha256').update(text).digest('hex').slice(0, SCOPE_DIGITS);
    scopes.set(baseUrl, scope);
    return scope;
  };
  return (tagged) => `${scopeOf(tagged.baseUrl)}-${hashOf(tagged)}`;
}

function hashOf({ path, parameters, filters }: Tagged): string {
  const sorted = parameters.length > 1 ? parameters.toSorted(byName) : parameters;
  let digits = '';
  for (const multiplier of MULTIPLIERS) {
    let hash = mixed(multiplier, path, multiplier);
    for (const [name, value] of sorted) hash = mixed(mixed(hash, name, multiplier), value, multiplier);
    // A sum, so that the order of filters says nothing.
    let sum = 0;
    for (const { key } of filters) sum = (sum + mixed(multiplier, key, multiplier)) | 0;
    digits += (scattered(hash ^ sum) >>> 0).toString(16).padStart(HASH_DIGITS, '0');
  }
  return digits;
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function mixed(start: number, text: string, multiplier: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(((hash << 13) | (hash >>> 19)) ^ text.charCodeAt(i), multiplier);
  }
  return Math.imul(((hash << 13) | (hash >>> 19)) ^ END, multiplier);
}

/** Lets every bit of a hash depend on every other: the last step of XXH32. */
function scattered(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 15), MULTIPLIERS[1]);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae3d);
  return hash ^ (hash >>> 16);
}

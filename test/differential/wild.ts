import type { Random } from '../support/random.ts';
import { writeText, type Json } from './json.ts';

/**
 * Writes a value on one line with odd but correct JSON: blanks between tokens, needless escapes. An import must serve
 * the plain spelling. `wildness` is the probability of an odd spelling at each token, 0 for the plain one.
 */
export function writeWildly(value: Json, random: Random, wildness: number): string {
  const blank = (): string => (random.chance(wildness) ? random.pick([' ', '\t', '  ', '\r']) : '');
  const spaced = (token: string): string => `${blank()}${token}${blank()}`;
  const text = (plain: string): string => (random.chance(wildness) ? wildText(plain, random) : writeText(plain));
  const write = (inner: Json): string => writeWildly(inner, random, wildness);
  switch (value.kind) {
    case 'misfit':
      throw new Error('a misfit is not written');
    case 'null':
      return spaced('null');
    case 'boolean':
      return spaced(String(value.value));
    case 'number':
      return spaced(value.token);
    case 'string':
      return spaced(text(value.value));
    case 'array':
      return spaced(`[${blank()}${value.items.map(write).join(',')}]`);
    case 'object':
      return spaced(
        `{${blank()}${value.members.map(([key, inner]) => `${spaced(text(key))}:${write(inner)}`).join(',')}}`,
      );
  }
}

function wildText(plain: string, random: Random): string {
  const units = Array.from({ length: plain.length }, (_, i) => plain.charCodeAt(i));
  return `"${units.map((unit) => wildUnit(unit, random)).join('')}"`;
}

function wildUnit(unit: number, random: Random): string {
  const hex = unit.toString(16).padStart(4, '0');
  const isSurrogate = unit >= 0xd800 && unit < 0xe000;
  if (isSurrogate || unit < 0x20 || unit === 0x22 || unit === 0x5c || random.chance(0.2)) {
    return `\\u${random.chance(0.5) ? hex : hex.toUpperCase()}`;
  }
  return unit === 0x2f && random.chance(0.5) ? '\\/' : String.fromCharCode(unit);
}

// Case folding compared with the language's own, which case-insensitive regular expressions use, over all characters
// with a case.
import { describe, expect, test } from 'vitest';
import {
  FOLD_GROWTH_MAX,
  FOLD_SHRINKAGE_MAX,
  foldBytes,
  foldCodePoint,
  foldInPlace,
  foldText,
} from '../../../../engine/bits/fold.ts';

/** Every character that a case conversion changes, and its results. */
const CASED = casedCharacters();

function casedCharacters(): readonly string[] {
  const found = new Set<string>();
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
    const character = String.fromCodePoint(codePoint);
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    if (lower === character && upper === character) continue;
    for (const each of character + lower + upper) found.add(each);
  }
  return [...found];
}

function foldedBytes(text: string): string {
  const bytes = Buffer.from(`<${text}>`);
  const target = new Uint8Array(Math.ceil(text.length * 4 * FOLD_GROWTH_MAX) + 2);
  const end = foldBytes(bytes, 1, bytes.length - 1, target, 2);
  return Buffer.from(target.subarray(2, end)).toString();
}

test('folds two characters alike exactly if a case-insensitive regular expression equates them', () => {
  expect(CASED.length).toBeGreaterThan(2500);
  const all = CASED.join('');
  const folded = CASED.map((character) => foldCodePoint(character.codePointAt(0)!));
  CASED.forEach((character, i) => {
    const same = all.match(new RegExp(`\\u{${character.codePointAt(0)!.toString(16)}}`, 'giu')) ?? [];
    expect(
      CASED.filter((_, j) => folded[j] === folded[i]),
      character,
    ).toEqual([...same]);
  });
});

test('folds a character without a case to itself', () => {
  const cased = new Set(CASED);
  const changed: number[] = [];
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
    const isChanged = foldCodePoint(codePoint) !== codePoint;
    if (isChanged && !cased.has(String.fromCodePoint(codePoint))) changed.push(codePoint);
  }
  expect(changed).toEqual([]);
});

test('folds the bytes of a text as its characters, within the bounds of growth and shrinkage', () => {
  for (const character of [...CASED, 'é', '東', '😀', '\u0000', '\u{10ffff}']) {
    expect(foldedBytes(character)).toBe(foldText(character));
    const [before, after] = [character, foldText(character)].map((text) => Buffer.byteLength(text));
    expect(after!).toBeLessThanOrEqual(before! * FOLD_GROWTH_MAX);
    expect(before!).toBeLessThanOrEqual(after! * FOLD_SHRINKAGE_MAX);
  }
  expect(foldedBytes('')).toBe('');
  expect(foldedBytes('[ÅNGSTRÖM @ 300 \u212a] 😀東Z')).toBe('[ångström @ 300 k] 😀東z');
});

test('folds a text in place, up to a character that changes its length', () => {
  const inPlace = (text: string): string | number => {
    const bytes = Buffer.from(text);
    const buffer = new Uint8Array(Math.ceil(bytes.length / 4) * 4 + 4).fill(0x41);
    buffer.set(bytes);
    const reached = foldInPlace(buffer, 0, bytes.length);
    return reached === bytes.length ? Buffer.from(buffer.subarray(0, bytes.length)).toString() : reached;
  };
  for (let shift = 0; shift < 4; shift++) {
    for (const character of CASED) {
      const text = `${'Z'.repeat(shift)}${character}é@[\u007f`;
      const isKept = Buffer.byteLength(foldText(character)) === Buffer.byteLength(character);
      expect(inPlace(text)).toBe(isKept ? foldText(text) : shift);
    }
  }
  const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, i) => i));
  expect(inPlace(ascii)).toBe(ascii.toLowerCase());
});

describe('simple case folding', () => {
  test.each([
    ['Ångström', 'ångström', true],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος', true],
    ['\u212a', 'k', true],
    ['STRAẞE', 'straße', true],
    ['Straße', 'strasse', false],
    ['İ', 'i', false],
    ['ı', 'i', false],
    ['ı', 'I', false],
    ['ﬁsh', 'fish', false],
    ['oce\u0301an', 'océan', false],
  ])('decides whether %s and %s are the same: %s', (a, b, isSame) => {
    expect(foldText(a) === foldText(b)).toBe(isSame);
  });
});

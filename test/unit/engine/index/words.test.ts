// The word index of a dictionary: it finds the texts that contain a word, whatever their case and accents.
import { describe, expect, test } from 'vitest';
import { foldMarks, foldText } from '../../../../engine/bits/fold.ts';
import { hasBit } from '../../../../engine/bits/bitmap.ts';
import { buildWords, findWord, openWords } from '../../../../engine/index/words.ts';
import { dictionaryOf, textsOf } from '../../../support/dictionaries.ts';
import { randomOf } from '../../../support/random.ts';

const ENCODER = new TextEncoder();
const PIECES = ['ice', 'Icé', 'sheet', 'sheets', 'e\u0301tude', 'ß', 'ΣΊΣΥΦΟΣ', '日本', '😀', '4', ' ', ' ', '-', ', '];

/** The texts that the index finds for a word; undefined if it cannot help. */
function textsWith(
  texts: readonly string[],
  word: string,
  isWhole: boolean,
): { found: readonly string[]; isExact: boolean } | undefined {
  const dictionary = dictionaryOf(texts);
  const words = openWords(buildWords(dictionary), dictionary.size);
  const hits = findWord(words, { spellings: [ENCODER.encode(word)], isWhole }, () => undefined);
  return hits && { found: textsOf(dictionary).filter((_, code) => hasBit(hits.codes, code)), isExact: hits.isExact };
}

describe('the word index', () => {
  test('finds exactly the texts with a single word, and at least those with several', () => {
    const random = randomOf(20_261_130);
    const texts = Array.from({ length: 80 }, () => random.several(1, 9, () => random.pick(PIECES)).join(''));
    for (let i = 0; i < 300; i++) {
      const word = foldText(random.several(1, 3, () => random.pick(PIECES)).join(''), foldMarks);
      const isWhole = random.pick([true, false]);
      const letters = '[\\p{L}\\p{N}]';
      const literal = word.replace(/[^\p{L}\p{N}]/gu, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`);
      const pattern = new RegExp(isWhole ? `(?<!${letters})${literal}(?!${letters})` : literal, 'u');
      const expected = textsOf(dictionaryOf(texts)).filter((text) => pattern.test(foldText(text, foldMarks)));
      const hits = textsWith(texts, word, isWhole);
      const isSingle = new RegExp(`^${letters}+$`, 'u').test(word);
      expect(hits?.isExact ?? false).toBe(isSingle);
      if (isSingle) expect(hits!.found).toEqual(expected);
      else if (hits) expect(hits.found).toEqual(expect.arrayContaining(expected));
    }
  });

  test('cannot help with signs alone, or with a short word next to a sign', () => {
    expect(textsWith(['a - b'], ' - ', false)).toBeUndefined();
    expect(textsWith(['a - b'], 'a -', false)).toBeUndefined();
    expect(textsWith(['ice - b'], 'ice -', false)).toEqual({ found: ['ice - b'], isExact: false });
  });

  test('stops at codes that a forged file invents', () => {
    const dictionary = dictionaryOf(['ice', 'ice sheet']);
    const stored = buildWords(dictionary);
    const forged = openWords({ ...stored, postings: Uint8Array.from(stored.postings, () => 0x7f) }, dictionary.size);
    const hits = findWord(forged, { spellings: [ENCODER.encode('ice')], isWhole: false }, () => undefined);
    expect(hits!.codes.every((bits) => bits === 0)).toBe(true);
  });
});

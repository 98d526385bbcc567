// The n-gram index of a dictionary: its candidates contain every hit, folded or not, whatever the size of its blocks.
import { describe, expect, test } from 'vitest';
import { foldText } from '../../../../engine/bits/fold.ts';
import type { Dictionary } from '../../../../engine/column/dictionary.ts';
import {
  blockOf,
  buildGrams,
  codesOfBlocks,
  GRAM_TEXT_BYTES_MIN,
  gramBlocks,
  gramQuery,
  hasGrams,
} from '../../../../engine/index/grams.ts';
import { dictionaryOf, textsOf } from '../../../support/dictionaries.ts';
import { randomOf } from '../../../support/random.ts';

const ENCODER = new TextEncoder();
const WORDS = [
  'ocean',
  'Ocean',
  'Ångström',
  'ångström',
  'Kelvin',
  '\u212aelvin',
  'ice',
  'ΣΊΣΥΦΟΣ',
  'σίσυφος',
  '日本',
  '😀',
  ' ',
];

function candidatesOf(dictionary: Dictionary, needle: string): ReadonlySet<number> | undefined {
  const grams = buildGrams(dictionary);
  const query = gramQuery(grams, ENCODER.encode(needle));
  if (!query) return undefined;
  const codes = new Set<number>();
  for (const { start, end } of codesOfBlocks(grams, dictionary.size, gramBlocks(grams, query.lists))) {
    for (let code = start; code < end; code++) codes.add(code);
  }
  return codes;
}

describe('candidates of the n-gram index', () => {
  test.each([
    ['short texts, each a block', 3, 1],
    ['long texts that share blocks', 900, 2],
  ])('contain every code whose folded text contains the folded needle: %s', (_what, words, blockMin) => {
    const seed = 20_261_120 + words;
    const random = randomOf(seed);
    const texts = Array.from({ length: 60 }, () => random.several(1, words, () => random.pick(WORDS)).join(''));
    const dictionary = dictionaryOf(texts);
    expect(blockOf(dictionary)).toBeGreaterThanOrEqual(blockMin);
    const stored = textsOf(dictionary);
    for (let i = 0; i < 200; i++) {
      const source = random.pick(stored);
      const start = random.integer(0, source.length);
      const needle = source.slice(start, start + random.integer(1, 9)).toWellFormed();
      const codes = candidatesOf(dictionary, needle);
      if (!codes) continue;
      stored.forEach((text, code) => {
        const isHit = foldText(text).includes(foldText(needle));
        if (isHit) expect(codes.has(code), `seed ${seed}: ${JSON.stringify(needle)} in ${code}`).toBe(true);
      });
    }
  });

  test('are exactly the hits if a needle is one gram', () => {
    const dictionary = dictionaryOf(['ocean', 'canoe', 'ace', 'pace of ice', 'cea']);
    const hits = textsOf(dictionary).flatMap((text, code) => (text.includes('cea') ? [code] : []));
    expect([...candidatesOf(dictionary, 'CEA')!]).toEqual(hits);
  });

  test('are empty if a gram of the needle occurs nowhere', () => {
    expect(candidatesOf(dictionaryOf(['ocean', 'ice']), 'oceanic')).toEqual(new Set());
  });

  test('are those of the first 256 bytes of a needle, up to the start of a character', () => {
    const text = `${'å'.repeat(127)}xå and so on`;
    const dictionary = dictionaryOf([text, `${text}, further`, 'ocean']);
    const grams = buildGrams(dictionary);
    const [all, first] = [`${text} where no gram stands`, text.slice(0, 128)].map((one) => ENCODER.encode(one));
    expect(first!.length).toBe(255);
    expect(gramQuery(grams, all!)).toEqual(gramQuery(grams, first!));
    expect(candidatesOf(dictionary, `${text}, further`)).toEqual(new Set([1, 2]));
  });

  test('are not reduced by a list that takes longer to read than the candidates take to check', () => {
    const texts = Array.from(
      { length: 2000 },
      (_, i) => `${i === 1500 ? 'seldom' : i % 2 === 0 ? 'often' : 'rare'} ${i}`,
    );
    const dictionary = dictionaryOf(texts);
    const grams = buildGrams(dictionary);
    const listsOf = (needle: string): readonly { start: number; end: number }[] =>
      gramQuery(grams, ENCODER.encode(needle))!.lists;
    const [seldom, often] = [listsOf('sel'), listsOf('oft')].flat();
    expect(often!.end - often!.start).toBeGreaterThan(64);
    expect(gramBlocks(grams, [seldom!, often!])).toEqual(gramBlocks(grams, [seldom!]));
    const [rare] = listsOf('rar');
    expect(gramBlocks(grams, [rare!, often!]).length).toBe(0);
  });

  test('are unknown for a needle of less than three bytes', () => {
    expect(candidatesOf(dictionaryOf(['ocean']), 'oc')).toBeUndefined();
    expect(candidatesOf(dictionaryOf(['ocean']), 'å')).toBeUndefined();
  });
});

describe('an n-gram index', () => {
  const long = Array.from({ length: 3000 }, (_, i) => `a text of some length, number ${i}`);

  test('is built for texts that are long to scan', () => {
    const dictionary = dictionaryOf(long);
    expect(dictionary.text.length).toBeGreaterThan(GRAM_TEXT_BYTES_MIN);
    expect(hasGrams(dictionary)).toBe(true);
    expect(hasGrams(dictionaryOf(['short']))).toBe(false);
  });

  test('is not built for identifiers, which all have one length', () => {
    const identifiers = Array.from({ length: 4000 }, (_, i) => String(i).padStart(32, 'f'));
    expect(dictionaryOf(identifiers).text.length).toBeGreaterThan(GRAM_TEXT_BYTES_MIN);
    expect(hasGrams(dictionaryOf(identifiers))).toBe(false);
  });

  test.each([1, 3])('has in each list the blocks of its gram, in blocks of %i texts', (block) => {
    const random = randomOf(20_261_125);
    // Lists of one block and of nearly all, gaps of more than one byte, and more grams than a first table has slots.
    const texts = Array.from({ length: 5000 }, (_, i) => {
      const rare = String.fromCharCode(...Array.from({ length: 4 }, () => random.integer(97, 123)));
      return `${rare} everywhere${i % 700 === 0 ? ' seldom' : ''}`;
    });
    const dictionary = dictionaryOf(texts);
    const expected = new Map<number, Set<number>>();
    textsOf(dictionary).forEach((text, code) => {
      for (let i = 0; i + 3 <= text.length; i++) {
        const gram = (text.charCodeAt(i) << 16) | (text.charCodeAt(i + 1) << 8) | text.charCodeAt(i + 2);
        expected.set(gram, (expected.get(gram) ?? new Set()).add(Math.floor(code / block)));
      }
    });
    const grams = buildGrams(dictionary, block);
    expect([...grams.keys]).toEqual([...expected.keys()].sort((a, b) => a - b));
    grams.keys.forEach((key, k) => {
      const list = { start: k === 0 ? 0 : grams.ends[k - 1]!, end: grams.ends[k]! };
      expect([...gramBlocks(grams, [list])]).toEqual([...expected.get(key)!].sort((a, b) => a - b));
    });
    expect(grams.postings.length).toBe(grams.ends.at(-1));
  });

  test('is the same for the same texts, after other builds too', () => {
    const dictionary = dictionaryOf(long);
    const first = buildGrams(dictionary);
    buildGrams(dictionaryOf(['something', 'else']));
    expect(buildGrams(dictionary)).toEqual(first);
  });
});

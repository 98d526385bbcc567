// Merged dictionaries equal a sort of all values from scratch, with texts in uncopied pieces. Every failure prints its
// seed.
import { expect, test } from 'vitest';
import type { Dictionary, WrittenDictionary } from '../../../../engine/column/dictionary.ts';
import { DROPPED_CODE, mergeDictionaries } from '../../../../engine/column/mergeDictionary.ts';
import { buildGrams } from '../../../../engine/index/grams.ts';
import { mergeGrams } from '../../../../engine/index/mergeGrams.ts';
import { dictionaryOf, textsOf } from '../../../support/dictionaries.ts';
import { randomOf, RUN_SEED } from '../../../support/random.ts';

function joined({ text, ...others }: WrittenDictionary): Dictionary {
  return { ...others, text: new Uint8Array(text instanceof Uint8Array ? text : Buffer.concat(text)) };
}

const random = randomOf(RUN_SEED);
const VALUES: Readonly<Record<'text' | 'integer', () => string>> = {
  // Some are empty, and some have letters that grow when case is folded.
  text: () =>
    'aÅİ ocean Kelvin'.repeat(4).slice(random.integer(0, 9), random.integer(9, 40)).slice(random.integer(0, 2)),
  integer: () => String(random.integer(-50, 50)),
};

test.each(['text', 'integer'] as const)(
  'merges dictionaries of %s like a sort of all values, and the n-gram index too',
  (type) => {
    for (let round = 0; round < 60; round++) {
      const some = (count: number): readonly string[] => Array.from({ length: count }, VALUES[type]);
      const [old, young] = [
        dictionaryOf(some(random.integer(0, 40)), type),
        dictionaryOf(some(random.integer(0, 9)), type),
      ];
      const isUsed = Uint8Array.from({ length: old.size + 1 }, () => Number(random.chance(0.8)));
      const { dictionary, oldCodes, youngCodes, isOld } = mergeDictionaries(old, isUsed, young);
      const [olds, youngs] = [textsOf(old), textsOf(young)];
      const used = olds.filter((text, code) => isUsed[code] !== 0 || youngs.includes(text));
      const expected = dictionaryOf([...used, ...youngs], type);
      expect(joined(dictionary)).toEqual(expected);
      expect(isOld).toBe(used.length === old.size && expected.size === old.size);
      const texts = textsOf(expected);
      const codeOf = (text: string): number => (texts.includes(text) ? texts.indexOf(text) : DROPPED_CODE);
      expect([...oldCodes]).toEqual(olds.map(codeOf));
      expect([...youngCodes]).toEqual(youngs.map(codeOf));
      for (const block of [1, 3]) expect(buildGrams(dictionary, block)).toEqual(buildGrams(expected, block));
    }
  },
);

test('merges an n-gram index, unless an import does not write such lists', () => {
  const [old, young] = [dictionaryOf(['ocean', 'ocelot']), dictionaryOf(['oceanic'])];
  const merged = mergeDictionaries(old, Uint8Array.of(1, 1, 1), young);
  const grams = buildGrams(old, 1);
  expect(mergeGrams(grams, young, merged)).toEqual(buildGrams(merged.dictionary, 1));
  // Numbers that never end, exceed all codes, or repeat.
  for (const byte of [0xff, 9, 0]) {
    const forged = { ...grams, postings: grams.postings.map(() => byte) };
    expect(mergeGrams(forged, young, merged)).toBeUndefined();
  }
  // Every second list contains the bytes of all.
  const all = grams.postings.length;
  const shared = { ...grams, ends: grams.ends.map((_, i) => (i % 2 === 0 ? all : 0)) };
  expect(mergeGrams({ ...shared, postings: grams.postings.map(() => 1) }, young, merged)).toBeUndefined();
});

test('copies no text, and returns the old dictionary if the result is the same', () => {
  const old = dictionaryOf(['a', 'b', 'c']);
  expect(mergeDictionaries(old, Uint8Array.of(1, 1, 1, 0), dictionaryOf(['b'])).dictionary).toBe(old);
  const { dictionary } = mergeDictionaries(old, Uint8Array.of(1, 0, 1, 0), dictionaryOf(['bb']));
  const [first] = dictionary.text as readonly Uint8Array[];
  expect(first!.buffer).toBe(old.text.buffer);
});

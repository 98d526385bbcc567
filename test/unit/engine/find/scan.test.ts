// Scans that use the n-gram index find the same codes as scans of all texts, for every lookup of texts.
import { expect, test } from 'vitest';
import { PLACEHOLDER } from '../../../../engine/column/records.ts';
import { buildGrams } from '../../../../engine/index/grams.ts';
import { Meter } from '../../../../engine/find/counters.ts';
import { lookupNamed } from '../../../../engine/query/lookups.ts';
import { scanCodes } from '../../../../engine/find/scan.ts';
import { dictionaryOf } from '../../../support/dictionaries.ts';
import { type Random, randomOf } from '../../../support/random.ts';

const SEED = 20_261_121;
const FORM = { baseUrl: 'http://a.test', version: 'v2', linkEnd: '/?format=json' } as const;
const LOOKUPS = ['contains', 'icontains', 'startswith', 'istartswith', 'endswith', 'iendswith', 'iexact'];
const WORDS = [
  'ocean',
  'OCEAN',
  'Ångström',
  'ÅNGSTRÖM',
  'Kelvin',
  '\u212aelvin',
  'σίσυφος',
  'ΣΊΣΥΦΟΣ',
  '日本',
  '😀',
  ' ',
  'a',
];
const OWN = [`${PLACEHOLDER}/api/v3/parties/3/?format=api`, `${PLACEHOLDER}/ocean`];

function operandFrom(random: Random, texts: readonly string[]): string {
  const text = random.pick(texts).replace(PLACEHOLDER, random.pick([PLACEHOLDER, FORM.baseUrl]));
  const start = random.integer(0, text.length);
  const cut = text.slice(start, start + random.integer(1, 12)).toWellFormed();
  return random.chance(0.5) ? cut : cut.toUpperCase();
}

test.each([
  ['short texts', 4],
  ['long texts, several to a block', 400],
])(`finds with an n-gram index the same as a full scan, of %s (seed ${SEED})`, (_what, words) => {
  const random = randomOf(SEED + words);
  const texts = [
    ...Array.from({ length: 80 }, () => random.several(1, words, () => random.pick(WORDS)).join('')),
    ...OWN,
  ];
  const dictionary = dictionaryOf(texts);
  const grams = buildGrams(dictionary);
  let scanned = 0;
  let byGrams = 0;
  for (let i = 0; i < 400; i++) {
    const operand = operandFrom(random, texts);
    const lookup = random.pick(LOOKUPS);
    const named = lookupNamed(lookup)!;
    const search = named.search!({ kind: 'text', values: [operand] });
    const [whole, part] = [new Meter(), new Meter()];
    const expected = scanCodes({ form: FORM, meter: whole }, { dictionary, grams: undefined }, named, search);
    const found = scanCodes({ form: FORM, meter: part }, { dictionary, grams }, named, search);
    expect(codesIn(found), `${lookup} ${JSON.stringify(operand)}`).toEqual(codesIn(expected));
    scanned += whole.counters.bytesScanned;
    byGrams += part.counters.bytesScanned;
  }
  expect(byGrams).toBeLessThan(scanned);
});

function codesIn(ranges: readonly { start: number; end: number }[]): readonly number[] {
  return ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
}

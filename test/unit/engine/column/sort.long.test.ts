// Dictionaries as import makes them: interned texts, each type's order, and numbers beside texts.
import { expect, test } from 'vitest';
import { type ColumnType, type Dictionary, textAt } from '../../../../engine/column/dictionary.ts';
import { Interner } from '../../../../engine/column/intern.ts';
import { sortDictionary } from '../../../../engine/column/sort.ts';
import { parseInstant } from '../../../../engine/query/decimal.ts';
import { textsOf } from '../../../support/dictionaries.ts';
import { costOf } from '../../../support/growth.ts';
import { randomOf, RUN_SEED } from '../../../support/random.ts';

const encoder = new TextEncoder();

function interned(texts: readonly string[]): { interner: Interner; numbers: number[] } {
  const interner = new Interner();
  const numbers = texts.map((text) => {
    const bytes = encoder.encode(`<${text}>`);
    return interner.intern(bytes, 1, bytes.length - 1);
  });
  return { interner, numbers };
}

function sorted(type: ColumnType, texts: readonly string[]): Dictionary {
  return sortDictionary(type, interned(texts).interner.texts, parseInstant).dictionary;
}

test('equal texts have one number, in the order of their first appearance, however many there are', () => {
  const random = randomOf(6);
  const texts = Array.from({ length: 5000 }, () => String(random.integer(0, 2000)).repeat(random.integer(0, 3)));
  const distinct = [...new Set(texts)];
  const { interner, numbers } = interned(texts);
  expect(interner.size).toBe(distinct.length);
  expect(numbers).toEqual(texts.map((text) => distinct.indexOf(text)));
});

test('texts that are forgotten, last first, are new when they come again, and no other is', () => {
  const random = randomOf(20261128);
  const interner = new Interner();
  const known: string[] = [];
  for (let round = 0; round < 400; round++) {
    const size = known.length;
    // Growing past several sizes of the table, also within what is forgotten again.
    for (let i = random.integer(0, 200); i > 0; i--) {
      const text = String(random.integer(0, 100_000));
      if (!known.includes(text)) known.push(text);
      expect(interner.intern(encoder.encode(text), 0, text.length)).toBe(known.indexOf(text));
    }
    if (random.integer(0, 3) === 0) continue;
    while (known.length > size) {
      interner.forgetLast();
      known.pop();
    }
    expect(interner.size).toBe(size);
    for (const text of known.slice(-20))
      expect(interner.intern(encoder.encode(text), 0, text.length)).toBe(known.indexOf(text));
  }
});

/** Texts of which all have one hash from the published start: at each of some places either of two blocks stands. */
function collidingTexts(places: number): readonly string[] {
  const random = randomOf(20261126);
  let texts = [''];
  let state = 0x811c9dc5 | 0;
  const after = (block: string): number => {
    let hash = state;
    for (let i = 0; i < block.length; i++) hash = Math.imul(hash ^ block.charCodeAt(i), 0x01000193);
    return hash;
  };
  for (let place = 0; place < places; place++) {
    const met = new Map<number, string>();
    for (let other: string | undefined; other === undefined;) {
      const block = random.unit().toString(36).slice(2, 8).padEnd(6, '-');
      const hash = after(block);
      other = met.get(hash);
      met.set(hash, block);
      if (other === block) other = undefined;
      if (other === undefined) continue;
      texts = texts.flatMap((text) => [text + block, text + other]);
      state = hash;
    }
  }
  return texts;
}

test('texts chosen to have one hash are told apart as quickly as others, from a start that nobody knows', () => {
  const texts = collidingTexts(14).map((text) => encoder.encode(text));
  const others = texts.map((_, i) => encoder.encode(String(i).padStart(84, '-')));
  const intern = (all: readonly Uint8Array[]): void => {
    const interner = new Interner(20261126);
    for (const [i, bytes] of all.entries()) expect(interner.intern(bytes, 0, bytes.length)).toBe(i);
  };
  expect(costOf(() => intern(texts))).toBeLessThan(4 * costOf(() => intern(others)));
});

test('texts that share ever more bytes cost as many steps as they have bytes', () => {
  const shared = (length: number): (() => void) => {
    const fillers = Array.from({ length: 1000 }, (_, i) => 'a'.repeat(length) + String(i).padStart(4, '0'));
    const peelers = Array.from({ length: length / 4 }, (_, k) => `${'a'.repeat(4 * k)}b`);
    const { texts } = interned([...fillers, ...peelers]).interner;
    return () => void sortDictionary('text', texts, parseInstant);
  };
  // Of bytes there are 5 times as many; steps were 16 times as many.
  expect(costOf(shared(4000))).toBeLessThan(10 * costOf(shared(1000)));
});

test('texts that stand there several times are one value', () => {
  const random = randomOf(20261128);
  for (const type of ['text', 'integer', 'dateTime'] as const) {
    const texts = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', '1', '01', '1.0', '2020-01-01', '2020-01-01T00:00:00'];
    const all = random.shuffled(texts.flatMap((text) => Array.from({ length: random.integer(1, 40) }, () => text)));
    let end = 0;
    const ends = Uint32Array.from(all, (text) => (end += text.length));
    const once = sorted(type, texts);
    const { dictionary, codes } = sortDictionary(type, { bytes: encoder.encode(all.join('')), ends }, parseInstant);
    expect(textsOf(dictionary)).toEqual(textsOf(once));
    expect(dictionary.numbers).toEqual(once.numbers);
    expect(Array.from(codes, (code) => textsOf(once)[code])).toEqual(all);
  }
});

test('what is no date stands behind all dates, whichever NaN it is read as', () => {
  const [negative] = new Float64Array(BigUint64Array.of(0xfff8_0000_0000_0000n).buffer);
  const instantOf = (text: string): number => (text === 'x' ? negative! : parseInstant(text));
  const { dictionary } = sortDictionary('date', interned(['x', '1960-01-01', 'y']).interner.texts, instantOf);
  expect(textsOf(dictionary)).toEqual(['1960-01-01', 'x', 'y']);
});

/** The order of dictionaries, by the platform's own numbers and buffers. */
function compareSlowly(type: ColumnType, a: string, b: string): number {
  const isWhole = type === 'integer' || type === 'link';
  if (type === 'text' || (isWhole && BigInt(a) === BigInt(b))) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (isWhole) return BigInt(a) < BigInt(b) ? -1 : 1;
  const [one, other] = [a, b].map((text) => slowNumber(type, text)) as [number, number];
  if (Number.isNaN(one) !== Number.isNaN(other)) return Number.isNaN(one) ? 1 : -1;
  return one < other ? -1 : one > other ? 1 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function slowNumber(type: ColumnType, text: string): number {
  return type === 'date' || type === 'dateTime' ? parseInstant(text) : Number(text);
}

const drawn = randomOf(RUN_SEED);

/** A date-time, of few days: one that is written plainly, or is not, or is none. */
function drawnDateTime(): string {
  const two = (end: number): string => String(drawn.integer(0, end)).padStart(2, '0');
  const year = drawn.pick(['0001', '1684', '2016', '2016', '2255', '9999', '20x6']);
  const seconds = drawn.pick([
    `:${two(61)}`,
    `:${two(60)}.${String(drawn.integer(0, 1e6)).padStart(6, '0')}`,
    '',
    ':15.5',
  ]);
  const zone = drawn.pick(['', '', '', 'Z', '+01:00', '-00:30', '\u0000']);
  const mark = drawn.pick(['', '', '', '\ufeff']);
  return `${mark}${year}-${two(14)}-${two(33)}${drawn.pick(['T', 'T', ' '])}${two(25)}:${two(61)}${seconds}${zone}`;
}

const several = (count: number, letters: string): string =>
  drawn.several(0, count, () => drawn.pick(Array.from(letters))).join('');
const BEGINNINGS = ['', 'a long beginning of many texts, ', 'a long beginning of many others, '];

test.each<[what: string, ColumnType, draw: () => string]>([
  ['short texts with zeros', 'text', () => several(12, '\u0000ab')],
  ['texts that begin alike', 'text', () => drawn.pick(BEGINNINGS) + several(9, '\u0000a日😀é')],
  ['texts of which each begins another', 'text', () => drawn.pick(['a', '\u0000']).repeat(drawn.integer(0, 1500))],
  [
    'identifiers',
    'text',
    () =>
      drawn
        .integer(2 ** 31, 2 ** 32)
        .toString(16)
        .repeat(4),
  ],
  ['small integers', 'integer', () => String(drawn.integer(-3000, 3000))],
  ['integers of any length', 'integer', () => drawn.pick(['', '-']) + drawn.integer(1, 9) + several(24, '0000000019')],
  ['neighbours', 'integer', () => String(1e15 + drawn.integer(-2000, 2000))],
  ['equal ids', 'link', () => several(9, '0') + drawn.integer(0, 300)],
  [
    'floats',
    'float',
    () => `${drawn.pick(['', '-'])}${several(4, '01')}5.${several(4, '01')}${drawn.pick(['', 'e3', 'e-400', 'e400'])}`,
  ],
  ['zeros', 'float', () => `${drawn.pick(['', '-', '+'])}0.${several(60, '0')}`],
  ['date-times', 'dateTime', drawnDateTime],
  ['dates', 'date', () => drawnDateTime().slice(0, drawn.pick([10, 10, 10, 9]))],
])('however many %s there are, they ascend as values do, and keep their numbers and codes', (_what, type, draw) => {
  for (const count of [0, 1, 2, 17, 200, 3000]) {
    const texts = [...new Set(Array.from({ length: count }, draw))];
    const { dictionary, codes } = sortDictionary(type, interned(texts).interner.texts, parseInstant);
    const expected = texts.toSorted((a, b) => compareSlowly(type, a, b));
    expect(textsOf(dictionary)).toEqual(expected);
    expect(texts.map((_, i) => Buffer.from(textAt(dictionary, codes[i]!)).toString())).toEqual(texts);
    if (type !== 'text') expect([...dictionary.numbers!]).toEqual(expected.map((text) => slowNumber(type, text)));
  }
});

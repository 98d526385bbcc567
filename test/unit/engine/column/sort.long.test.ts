// The cost of dictionaries of hostile texts, and of forgotten texts. The differential tests compare their order.
import { expect, test } from 'vitest';
import { Interner } from '../../../../engine/column/intern.ts';
import { sortDictionary } from '../../../../engine/column/sort.ts';
import { parseInstant } from '../../../../engine/query/decimal.ts';
import { textsOf } from '../../../support/dictionaries.ts';
import { costOf } from '../../../support/growth.ts';
import { randomOf } from '../../../support/random.ts';

const encoder = new TextEncoder();

function interned(texts: readonly string[]): Interner {
  const interner = new Interner();
  for (const text of texts) {
    const bytes = encoder.encode(`<${text}>`);
    interner.intern(bytes, 1, bytes.length - 1);
  }
  return interner;
}

test('treats texts that were forgotten, last first, as new when they come again, and no others', () => {
  const random = randomOf(20261128);
  const interner = new Interner();
  const known: string[] = [];
  for (let round = 0; round < 400; round++) {
    const size = known.length;
    // Grows past several sizes of the table, also within texts that are forgotten again.
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

/** Texts that all have one hash from the published start: each of some places has one of two blocks. */
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

test('distinguishes texts chosen to collide as quickly as others, because the start of the hash is secret', () => {
  const texts = collidingTexts(14).map((text) => encoder.encode(text));
  const others = texts.map((_, i) => encoder.encode(String(i).padStart(84, '-')));
  const intern = (all: readonly Uint8Array[]): void => {
    const interner = new Interner(20261126);
    for (const [i, bytes] of all.entries()) expect(interner.intern(bytes, 0, bytes.length)).toBe(i);
  };
  expect(costOf(() => intern(texts))).toBeLessThan(4 * costOf(() => intern(others)));
});

test('sorts texts that share ever more bytes in as many steps as they have bytes', () => {
  const shared = (length: number): (() => void) => {
    const fillers = Array.from({ length: 1000 }, (_, i) => 'a'.repeat(length) + String(i).padStart(4, '0'));
    const peelers = Array.from({ length: length / 4 }, (_, k) => `${'a'.repeat(4 * k)}b`);
    const { texts } = interned([...fillers, ...peelers]);
    return () => void sortDictionary('text', texts, parseInstant);
  };
  // There are 5 times as many bytes. A sort that compares shared bytes again takes 16 times as many steps.
  expect(costOf(shared(4000))).toBeLessThan(10 * costOf(shared(1000)));
});

test('sorts texts that are not dates after all dates, whichever NaN they are read as', () => {
  const [negative] = new Float64Array(BigUint64Array.of(0xfff8_0000_0000_0000n).buffer);
  const instantOf = (text: string): number => (text === 'x' ? negative! : parseInstant(text));
  const { dictionary } = sortDictionary('date', interned(['x', '1960-01-01', 'y']).texts, instantOf);
  expect(textsOf(dictionary)).toEqual(['1960-01-01', 'x', 'y']);
});

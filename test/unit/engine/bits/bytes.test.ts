// Byte strings: search compared with String.indexOf, order with the order of code points.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareBytes, compareParts, hasPrefix, horspoolShifts, indexOfBytes } from '../../../../engine/bits/bytes.ts';

const encoder = new TextEncoder();

/** Few letters, so that needles occur, overlap and almost occur. */
const ASCII = fc.string({ unit: fc.constantFrom('a', 'b', 'ab'), maxLength: 60 });
const ANY = fc.string({ unit: 'grapheme', maxLength: 12 });

function find(text: string, needle: string, start = 0, end = text.length): number {
  const bytes = encoder.encode(needle);
  return indexOfBytes(encoder.encode(text), bytes, horspoolShifts(bytes), start, end);
}

describe('indexOfBytes', () => {
  test('finds what String.indexOf finds, in any part of the text', () => {
    fc.assert(
      fc.property(ASCII, ASCII, fc.nat(60), fc.nat(60), (text, needle, one, other) => {
        fc.pre(needle.length > 0);
        const [start, end] = [Math.min(one, other, text.length), Math.min(Math.max(one, other), text.length)];
        const at = text.slice(start, end).indexOf(needle);
        expect(find(text, needle, start, end)).toBe(at < 0 ? -1 : at + start);
      }),
    );
  });

  test('finds a needle that is the whole part, and no longer one', () => {
    expect(find('abc', 'abc')).toBe(0);
    expect(find('abc', 'abcd')).toBe(-1);
    expect(find('xabc', 'abc', 1, 3)).toBe(-1);
    expect(find('', 'a')).toBe(-1);
  });

  test('finds texts beyond ASCII at their byte', () => {
    expect(find('Zürich, Ångström', 'Ång', 0, 18)).toBe(9);
  });
});

describe('the order of bytes', () => {
  const codePoints = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!);
  const slowOrder = (a: string, b: string): number => {
    const [first, second] = [codePoints(a), codePoints(b)];
    const i = first.findIndex((point, k) => point !== second[k]);
    if (i < 0) return first.length - second.length;
    return i < second.length ? first[i]! - second[i]! : 1;
  };

  test('is the order of code points, a prefix first', () => {
    fc.assert(
      fc.property(ANY, ANY, (a, b) => {
        fc.pre(a.isWellFormed() && b.isWellFormed());
        expect(Math.sign(compareBytes(encoder.encode(a), encoder.encode(b)))).toBe(Math.sign(slowOrder(a, b)));
      }),
    );
  });

  test('of parts is that of their bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8 }), fc.nat(4), (a, b, shift) => {
        const bytes = Uint8Array.from([...new Uint8Array(shift), ...a, ...b]);
        const middle = shift + a.length;
        expect(Math.sign(compareParts(bytes, shift, middle, bytes, middle, bytes.length))).toBe(
          Math.sign(compareBytes(a, b)),
        );
      }),
    );
  });
});

test('tests prefixes as String.startsWith does', () => {
  fc.assert(
    fc.property(ASCII, ASCII, (text, prefix) => {
      expect(hasPrefix(encoder.encode(text), encoder.encode(prefix))).toBe(text.startsWith(prefix));
    }),
  );
});

// Listings as bodies: whole, the same from any offset, in pieces of bounded size, measured in slices.
import { describe, expect, test } from 'vitest';
import { listingMeasuring, type TextListing } from '../../../../engine/resolve/listing.ts';
import type { Body } from '../../../../engine/page/envelope.ts';
import { randomOf } from '../../../support/random.ts';

const SEED = 11;

/** Some entries are absent, the first ones too. Characters have every width. */
function listingOf(texts: readonly string[]): TextListing {
  return { entries: texts.length, head: '{', separator: ',', tail: '}', entry: (i) => texts[i]! };
}

function measured(listing: TextListing): { readonly body: Body; readonly calls: number } {
  const measuring = listingMeasuring(listing);
  for (let calls = 1; ; calls++) {
    const body = measuring();
    if (body) return { body, calls };
  }
}

function textOf(body: Body): string {
  const pieces: Uint8Array[] = [];
  for (let offset = 0; offset < body.bytes;) {
    const piece = body.pieceAt(offset).slice();
    pieces.push(piece);
    offset += piece.length;
  }
  return Buffer.concat(pieces).toString();
}

describe.each([0, 1, 31, 32, 33, 700, 5000])('a listing of %i entries', (count) => {
  const random = randomOf(SEED + count);
  const texts = Array.from({ length: count }, (_, i) =>
    i < 3 || random.chance(0.2) ? '' : random.pick(['é', '日本', '😀', 'a']).repeat(random.integer(1, 60)),
  );
  const expected = `{${texts.filter((text) => text !== '').join(',')}}`;
  const { body } = measured(listingOf(texts));

  test(`is one text, as long as it reports (seed ${SEED})`, () => {
    expect(textOf(body)).toBe(expected);
    expect(body.bytes).toBe(Buffer.byteLength(expected));
  });

  test('is the same from any offset', () => {
    const whole = Buffer.from(expected);
    for (let i = 0; i < 50; i++) {
      const offset = random.integer(0, whole.length);
      const piece = body.pieceAt(offset);
      expect(piece.length).toBeGreaterThan(0);
      expect(whole.subarray(offset, offset + piece.length).equals(piece)).toBe(true);
    }
  });
});

test.each([[[2000]], [[0]], [[4999]], [[40, 3000]], [[]]])(
  'has no empty piece in a listing of 5,000 entries of which only %j exist',
  (there) => {
    const texts = Array.from({ length: 5000 }, (_, i) => (there.includes(i) ? `"${i}"` : ''));
    for (const [head, tail] of [
      ['', ''],
      ['{', '}'],
    ] as const) {
      const { body } = measured({ ...listingOf(texts), head, tail });
      const expected = head + there.map((i) => `"${i}"`).join(',') + tail;
      expect(textOf(body)).toBe(expected);
      for (let at = 0; at < expected.length; at++) {
        const piece = Buffer.from(body.pieceAt(at)).toString();
        expect(piece).not.toBe('');
        expect(expected.startsWith(piece, at)).toBe(true);
      }
    }
  },
);

describe('a long listing', () => {
  let written = 0;
  const listing: TextListing = {
    entries: 100_000,
    head: '[',
    separator: ',',
    tail: ']',
    entry: (i) => {
      written++;
      return `"${i} ${'x'.repeat(100)}"`;
    },
  };
  const { body, calls } = measured(listing);

  test('is measured in many slices, each entry once', () => {
    expect(written).toBe(listing.entries);
    expect(calls).toBeGreaterThan(100);
  });

  test('is written piece by piece, each of some entries and not of all', () => {
    for (const offset of [0, body.bytes >> 1, body.bytes - 1]) {
      written = 0;
      const piece = body.pieceAt(offset);
      expect(piece.length).toBeLessThan(80_000);
      expect(written).toBeLessThan(1000);
    }
  });
});

// Indented JSON equals the language's own, whatever the pieces, and stays within its bounds.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Body, wholeBody } from '../../../../engine/page/envelope.ts';
import { indented, indentedAtOnce } from '../../../../engine/page/indent.ts';
import { measured } from '../../../../engine/page/rows.ts';

function textOf(body: Body): string {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.bytes; at += parts.at(-1)!.length) parts.push(body.pieceAt(at).slice());
  return Buffer.concat(parts).toString();
}

function indentedText(compact: string): string {
  return textOf(indentedAtOnce(wholeBody(Buffer.from(compact))));
}

/** A body in pieces of this many bytes. */
function inPieces(text: string, length: number): Body {
  const bytes = Buffer.from(text);
  return { bytes: bytes.length, pieceAt: (offset) => bytes.subarray(offset, offset + length) };
}

test('indents any JSON as JSON.stringify does, whatever the pieces', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 50 }), (value, length) => {
      const compact = JSON.stringify(value);
      expect(textOf(measured(indented(() => inPieces(compact, length))))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test.each(['1.50', '123456789012345678901234567890', '"\\\\\\"[{,:\\u00e9"', '{"a":1,"a":2.0}', '[]', '{}', '""'])(
  'keeps the values of %s as they are written',
  (compact) => {
    expect(indentedText(compact).replace(/\n */g, '').replace(': ', ':').replace(': ', ':')).toBe(compact);
  },
);

test('reads one piece a slice of a text that is slow to read, after the pieces that measure it', () => {
  const pieces = inPieces(JSON.stringify([1, 2, 3, 4]), 3);
  let slices = 0;
  const slow = { ...pieces, isSlow: true };
  const indenting = indented(() => (slices < 2 ? undefined : slow));
  let text: Body | undefined;
  for (; !text; slices++) text = indenting();
  expect([slices, textOf(text)]).toEqual([2 + 1 + 3, JSON.stringify([1, 2, 3, 4], null, 2)]);
});

describe('the bounds of indentation', () => {
  test('leave a text beyond 1 MiB as it is', () => {
    const text = (bytes: number): string => `[${'1,'.repeat((bytes - 3) / 2)}1]`.padEnd(bytes, ' ');
    expect(indentedText(text((1 << 20) + 1))).toBe(text((1 << 20) + 1));
    expect(indentedText(text(1 << 20)).startsWith('[\n  1,\n  1,')).toBe(true);
  });

  test('leave a text as it is if its depth would make it longer than 8 MiB', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(indentedText(deep)).toBe(deep);
  });

  test('allow one slice at most 64 kB of the text', () => {
    const compact = `[${'"x",'.repeat(50_000)}1]`;
    const measuring = indented(() => wholeBody(Buffer.from(compact)));
    let slices = 1;
    while (!measuring()) slices++;
    expect(slices).toBe(Math.ceil(compact.length / 65_536));
  });
});

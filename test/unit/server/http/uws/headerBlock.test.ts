// Header lists as blocks: what is written, what is remembered, what is refused.
import { expect, test } from 'vitest';

import { type HeaderBlock, HeaderBlocks } from '../../../../../server/http/uws/headerBlock.ts';

function textsOf(block: HeaderBlock | undefined): unknown {
  return block && { name: Buffer.from(block.name).toString(), lines: Buffer.from(block.lines).toString() };
}

test('a list becomes its first name and all lines in order; an empty list becomes nothing', () => {
  const blocks = new HeaderBlocks();
  const headers = [
    ['A', '1'],
    ['B', '2'],
    ['A', '3'],
  ] as const;
  expect(textsOf(blocks.of(headers))).toEqual({ name: 'A', lines: '1\r\nB: 2\r\nA: 3' });
  expect(blocks.of([])).toBeUndefined();
});

test('a list used again gives the same block, whatever many others came between give their own', () => {
  const blocks = new HeaderBlocks();
  const usual = [['A', 'usual']] as const;
  const block = blocks.of(usual);
  expect(blocks.of(usual)).toBe(block);
  for (let i = 0; i < 20; i++) {
    expect(textsOf(blocks.of([['A', String(i)]]))).toEqual({ name: 'A', lines: String(i) });
    expect(blocks.of(usual)).toEqual(block);
  }
});

test.each(['\r', '\n', '\0', 'a\r\nB: c'])('a value with %j is refused, each time', (value) => {
  const blocks = new HeaderBlocks();
  const headers = [['A', value]] as const;
  expect(() => blocks.of(headers)).toThrow('the value of header A holds a control character');
  expect(() => blocks.of(headers)).toThrow('the value of header A holds a control character');
});

test('an entity tag stands behind the lines, each time its own, of any length', () => {
  const block = new HeaderBlocks().of([['A', 'usual']])!;
  for (const tag of ['"a"', '"b"', '"longer"', '"c"']) {
    expect(Buffer.from(block.taggedWith(tag, undefined)).toString()).toBe(`usual\r\nETag: ${tag}`);
  }
  expect(Buffer.from(block.lines).toString()).toBe('usual');
});

test('an entity tag beyond ASCII is written as UTF-8', () => {
  expect(Buffer.from(new HeaderBlocks().of([['A', '1']])!.taggedWith('"aé"', undefined)).toString()).toBe(
    '1\r\nETag: "aé"',
  );
});

test.each(['\r', '\n', '\0'])('an entity tag with %j is refused', (tag) => {
  expect(() => new HeaderBlocks().of([['A', '1']])!.taggedWith(tag, undefined)).toThrow('the value of header ETag');
});

test.each([0, 7, 10, 99, 100, 52_152, 1_000_000])('a count of %i stands behind the entity tag', (count) => {
  const block = new HeaderBlocks().of([['A', 'usual']])!;
  for (const tag of ['"a"', '"longer"', '"é"', '"a"']) {
    expect(Buffer.from(block.taggedWith(tag, 5)).toString()).toBe(`usual\r\nETag: ${tag}\r\nX-Total-Count: 5`);
    expect(Buffer.from(block.taggedWith(tag, count)).toString()).toBe(
      `usual\r\nETag: ${tag}\r\nX-Total-Count: ${count}`,
    );
    expect(Buffer.from(block.taggedWith(tag, undefined)).toString()).toBe(`usual\r\nETag: ${tag}`);
  }
});

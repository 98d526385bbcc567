// The texts of several decoders as one list: what rows had stays theirs, and what no row has goes.
import { expect, test } from 'vitest';
import { NULL_NUMBER } from '../../../../data/decode/batch.ts';
import { joinedTexts, type TextSources } from '../../../../data/import/joinedTexts.ts';
import type { Texts } from '../../../../engine/column/sort.ts';

function textsOf(...texts: string[]): Texts {
  let end = 0;
  return {
    bytes: Uint8Array.from(Buffer.from(texts.join(''))),
    ends: Uint32Array.from(texts, (text) => (end += text.length)),
  };
}

/** The texts of all rows, and how many texts there are. */
function read(made: TextSources): { rows: (string | null)[]; size: number } {
  const { texts, numbers } = joinedTexts(made);
  const textOf = (i: number): string =>
    Buffer.from(texts.bytes.subarray(i === 0 ? 0 : texts.ends[i - 1]!, texts.ends[i])).toString();
  return {
    rows: Array.from(numbers, (number) => (number === NULL_NUMBER ? null : textOf(number))),
    size: texts.ends.length,
  };
}

const numbers = Uint32Array.of(2, NULL_NUMBER, 0, 4, 2);
const rows = ['cc', null, 'a', 'e', 'cc'];

test("texts of one source that are all some row's stay where they are", () => {
  const source = textsOf('a', 'b', 'c');
  const all = Uint32Array.of(2, 1, NULL_NUMBER, 0);
  expect(joinedTexts({ sources: [source], numbers: all })).toEqual({ texts: source, numbers: all });
  expect(joinedTexts({ sources: [source], numbers: all }).texts).toBe(source);
});

test('texts that no row has are left out, of one source and of several', () => {
  expect(read({ sources: [textsOf('a', 'b', 'cc', 'd', 'e')], numbers })).toEqual({ rows, size: 3 });
  expect(read({ sources: [textsOf('a', 'b', 'cc'), textsOf('d', 'e')], numbers })).toEqual({ rows, size: 3 });
});

test('texts of several sources stand one behind the other, and may be there twice', () => {
  const sources = [textsOf('e'), textsOf(), textsOf('cc', 'a', 'e')];
  const twice = Uint32Array.of(1, NULL_NUMBER, 2, 3, 1, 0);
  expect(read({ sources, numbers: twice })).toEqual({ rows: [...rows, 'e'], size: 4 });
});

test('what is cut off both ends of a text is no part of it', () => {
  const sources = [textsOf('<<1>', '<<22>'), textsOf('<<1>', '<<333>', '<<4>')];
  expect(read({ sources, numbers, cut: { before: 2, behind: 1 } }).rows).toEqual(['1', null, '1', '4', '1']);
});

test('a column without a text has rows without one', () => {
  expect(read({ sources: [], numbers: Uint32Array.of(NULL_NUMBER) })).toEqual({ rows: [null], size: 0 });
});

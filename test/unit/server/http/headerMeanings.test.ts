// A function with a memory: the same meanings, fewer calls, within a limit.
import { expect, test } from 'vitest';
import { remembered } from '../../../../server/http/memory.ts';

test('a value met before is not read again, a long one each time', () => {
  const read: string[] = [];
  const lengthOf = remembered((header) => read.push(header) && header.length);
  const long = 'x'.repeat(257);
  for (const header of ['a', 'bc', 'a', 'bc', long, long]) expect(lengthOf(header)).toBe(header.length);
  expect(read).toEqual(['a', 'bc', long, long]);
});

test('so many values that memory is let go of still mean what they mean', () => {
  let calls = 0;
  const meaningOf = remembered((header) => `${++calls && header}!`);
  for (let round = 1; round <= 2; round++) for (let i = 0; i < 300; i++) expect(meaningOf(`${i}`)).toBe(`${i}!`);
  expect(calls).toBeGreaterThan(300);
});

// Lines that are compared with earlier records: in either order of ids each part of these is read once, all lines are
// found, and what was changed is handed on.
import { describe, expect, test } from 'vitest';
import type { Lines } from '../../../../data/decode/lines.ts';
import type { EarlierCollection } from '../../../../data/import/earlier.ts';
import { LineMatcher } from '../../../../data/import/matchLines.ts';

const RECORDS = 3000;
const WINDOW_BYTES = 256 << 10;
const textOf = (id: number, length: number): string => `{"ob_id":${id},"text":"${'x'.repeat(length)}"}`;

describe.each([
  ['of one length', () => 1000],
  ['of many lengths', (id: number) => 700 + ((id * 7919) % 600)],
])('records %s', (_what, lengthOf) => {
  const texts = Array.from({ length: RECORDS }, (_, i) => textOf(1000 + i, lengthOf(i)));
  const stored = Buffer.from(texts.map((text) => `${text},`).join(''));

  test.each([
    ['ascend', (lines: readonly string[]) => lines],
    ['descend', (lines: readonly string[]) => lines.toReversed()],
  ])('whose lines %s', async (_order, ordered) => {
    let at = 0;
    const ends = texts.map((text) => (at += text.length + 1));
    let bytesRead = 0;
    const read = (offset: number, target: Uint8Array): void => {
      bytesRead += target.length;
      target.set(stored.subarray(offset, offset + target.length));
    };
    const ids = Float64Array.from(texts, (_text, i) => 1000 + i);
    const earlier = { ids, runs: [{ ends }], bytes: { length: stored.length, read } } as unknown as EarlierCollection;
    const matcher = new LineMatcher(earlier, 'ob_id');
    const changed = textOf(1000 + 1234, lengthOf(1234)).replace('xx', 'yy');
    const lines = ordered(texts.with(1234, changed)).map((line) => `${line}\n`);
    async function* runs(): AsyncGenerator<Lines> {
      yield await Promise.resolve({ bytes: Buffer.from(lines.join('')), firstLine: 1, fileBytesRead: 0 });
    }
    const left: string[] = [];
    for await (const { bytes } of matcher.unmatched(runs())) left.push(Buffer.from(bytes).toString());
    expect(left).toEqual([`${changed}\n`]);
    expect(matcher.isKept.reduce((sum, one) => sum + one, 0)).toBe(RECORDS - 1);
    expect(bytesRead).toBeLessThan(stored.length + 3 * WINDOW_BYTES);
  });
});

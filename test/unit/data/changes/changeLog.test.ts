// What the power leaves of a change log: a file whose last bytes are NUL ends before them, wherever they begin; NUL
// with something good behind it is damage. The rest of the log is in changeLog.long.test.ts.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { appendGeneration, generationsIn } from '../../../../data/changes/changeFile.ts';
import { framesIn } from '../../../../data/changes/changeLog.ts';
import { changesOf, generationOf, logOf, newLog } from '../../../support/changeLogs.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();

function numbersIn(file: string): readonly number[] {
  return generationsIn(file).map(({ generation }) => Number(generation.slice(0, 8)));
}

function append(file: string, n: number): void {
  appendGeneration(file, { generation: generationOf(n), at: n, isBase: false, changes: changesOf(n) });
}

test('NUL from any byte to the end ends a log before what it cuts', () => {
  const file = logOf(directory, 2);
  const whole = readFileSync(file);
  const ends = generationsIn(file).map(({ end }) => end.bytes);
  for (let from = 0; from < whole.length; from++) {
    const bytes = Buffer.from(whole).fill(0, from);
    // Bytes of a frame may be NUL themselves.
    const kept = ends.filter((end) => bytes.subarray(0, end).equals(whole.subarray(0, end)));
    const found = framesIn(file, (offset, length) => bytes.subarray(offset, offset + length));
    expect(
      [...found].map(({ end }) => end.bytes),
      `from ${from}`,
    ).toEqual(kept);
  }
});

test.each([
  ['nothing else', () => 0, []],
  ['the beginning', () => 5, []],
  ['the head of a frame', (ends: readonly number[]) => ends[1]! + 3, [0, 1]],
  ['a payload', (ends: readonly number[]) => ends[1]! + 40, [0, 1]],
  ['whole frames', (ends: readonly number[]) => ends[2]!, [0, 1, 2]],
])('a generation is written over NUL behind %s, however long', (_what, fromOf, kept) => {
  const file = logOf(directory, 2);
  const whole = readFileSync(file);
  const from = fromOf(generationsIn(file).map(({ end }) => end.bytes));
  writeFileSync(file, Buffer.concat([whole.subarray(0, from), new Uint8Array(200_000)]));
  expect(numbersIn(file)).toEqual(kept);
  append(file, 9);
  expect(numbersIn(file)).toEqual([...kept, 9]);
  expect(readFileSync(file).length).toBeLessThan(2000);
});

test('NUL with anything behind it is damage, and stays', () => {
  const intact = logOf(directory, 3);
  const whole = readFileSync(intact);
  const [, first, second] = generationsIn(intact);
  const file = newLog(directory);
  for (const [from, end] of [
    [0, 8],
    [first!.start.bytes, first!.end.bytes],
    [first!.start.bytes + 4, first!.start.bytes + 8],
    [second!.start.bytes + 20, second!.end.bytes],
  ] as const) {
    const bytes = Buffer.from(whole).fill(0, from, end);
    writeFileSync(file, bytes);
    expect(() => numbersIn(file), `${from} to ${end}`).toThrow('damaged at byte');
    expect(() => append(file, 9)).toThrow('damaged at byte');
    expect(readFileSync(file).equals(bytes)).toBe(true);
  }
  writeFileSync(file, whole);
  appendFileSync(file, Buffer.from([...new Uint8Array(100_000), 1]));
  expect(() => numbersIn(file)).toThrow(`damaged at byte ${whole.length}: `);
});

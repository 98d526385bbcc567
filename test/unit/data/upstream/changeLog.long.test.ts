// The change log returns what was appended. Cut at any byte, it has the whole generations before the cut. Any wrong bit
// gives an error that names file and offset.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHANGES_FILE } from '../../../../data/changeFeed.ts';
import {
  appendGeneration,
  changesSince,
  FRAME_CHANGES_MAX,
  generationsIn,
  LOG_START,
  type RecordChange,
} from '../../../../data/upstream/changeLog.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';

function generationOf(n: number): string {
  return String(n).padStart(8, '0').repeat(8);
}

function digest(n: number): Uint8Array {
  return new Uint8Array(16).fill(n);
}

/** The changes of a generation: one record is added, one changed and one deleted. */
function changesOf(n: number): readonly RecordChange[] {
  return [
    { collection: 'notes', id: n, before: null, after: digest(n) },
    { collection: 'notes', id: 2 ** 53 - 1, before: digest(n), after: digest(n + 1) },
    { collection: 'times', id: 0, before: digest(n), after: null },
  ];
}

const directory = temporaryDirectory();

/** The path of a log in a new folder. */
function newLog(): string {
  return join(dataSetOf(directory, {}), CHANGES_FILE);
}

/** A log of a base and this many generations after it. */
function logOf(generations: number): string {
  const file = newLog();
  for (let n = 0; n <= generations; n++) {
    const changes = n === 0 ? [] : changesOf(n);
    appendGeneration(file, { generation: generationOf(n), at: 1_000_000_000 + n, isBase: n === 0, changes });
  }
  return file;
}

function changed(file: string, since?: string): readonly RecordChange[] {
  return [...changesSince(file, since)].flatMap(({ changes }) => changes);
}

test('returns what was appended, after any generation', () => {
  const file = logOf(3);
  expect(generationsIn(file).map(({ generation, at }) => [generation, at - 1_000_000_000])).toEqual(
    [0, 1, 2, 3].map((n) => [generationOf(n), n]),
  );
  const all = [1, 2, 3].flatMap(changesOf);
  expect(changed(file)).toEqual(all);
  for (const n of [0, 1, 2, 3]) {
    expect(changed(file, generationOf(n))).toEqual(all.slice(n * 3));
    expect(changed(file, generationOf(n).slice(0, 8))).toEqual(all.slice(n * 3));
  }
  expect([...changesSince(join(directory, 'none.log'))]).toEqual([]);
});

test('keeps a generation with more changes than a frame has as whole as others', () => {
  const file = logOf(1);
  const before = readFileSync(file).length;
  const many = Array.from({ length: FRAME_CHANGES_MAX * 2 + 1 }, (_, id) => ({ ...changesOf(1)[0]!, id }));
  appendGeneration(file, { generation: generationOf(2), at: 0, isBase: false, changes: many });
  expect(changed(file, generationOf(1))).toEqual(many);
  const { length } = readFileSync(file);
  for (const end of [before + 1, before + ((length - before) >> 1), length - 200, length - 1]) {
    truncateSync(file, end);
    expect(changed(file, generationOf(1))).toEqual([]);
    appendGeneration(file, { generation: generationOf(2), at: 0, isBase: false, changes: many });
    expect(changed(file, generationOf(1))).toEqual(many);
    expect(readFileSync(file).length).toBe(length);
  }
});

test('has the whole generations before any cut, and continues from there', () => {
  const whole = readFileSync(logOf(3));
  const ends = generationsIn(logOf(3)).map(({ end }) => end.bytes);
  const file = newLog();
  for (let length = 0; length < whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    const kept = ends.filter((end) => end <= length).length;
    expect(generationsIn(file).length, `cut at ${length}`).toBe(kept);
    appendGeneration(file, { generation: generationOf(9), at: 9, isBase: false, changes: changesOf(9) });
    expect(
      generationsIn(file).map(({ generation }) => generation),
      `cut at ${length}`,
    ).toEqual([...[0, 1, 2, 3].slice(0, kept).map(generationOf), generationOf(9)]);
  }
});

test('reports any wrong bit with the file and the start of the damaged frame', () => {
  const intact = logOf(2);
  const whole = readFileSync(intact);
  const starts = [0, LOG_START.end.bytes, ...generationsIn(intact).map(({ end }) => end.bytes)];
  const file = newLog();
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const bytes = Buffer.from(whole);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, bytes);
    const start = starts.findLast((one) => one <= bit >> 3)!;
    expect(() => generationsIn(file), `bit ${bit}`).toThrow(`${file}: damaged at byte ${start}: `);
  }
  expect(() => appendGeneration(file, { generation: generationOf(9), at: 9, isBase: false, changes: [] })).toThrow();
});

test('reports repeated, missing or swapped frames as damage', () => {
  const file = logOf(3);
  const whole = readFileSync(file);
  const [, a, b, c] = generationsIn(file).map(({ start, end }) => whole.subarray(start.bytes, end.bytes)) as Buffer[];
  const head = whole.subarray(0, generationsIn(file)[0]!.end.bytes);
  for (const frames of [
    [a, a, b, c],
    [b, c],
    [a, c],
    [b, a, c],
  ]) {
    writeFileSync(file, Buffer.concat([head, ...(frames as Buffer[])]));
    expect(() => generationsIn(file)).toThrow('damaged at byte');
  }
});

test('refuses an unknown generation, and one before the log was restarted', () => {
  const file = logOf(2);
  expect(() => changed(file, 'abcdef01')).toThrow(`${file} has no generation abcdef01; its last is ${generationOf(2)}`);
  appendGeneration(file, { generation: generationOf(5), at: 5, isBase: true, changes: [] });
  expect(() => changed(file, generationOf(1))).toThrow(`started over with ${generationOf(5)}`);
  expect(changed(file, generationOf(5))).toEqual([]);
});

test('is printed by the command as a table, or as a line of JSON for each change', async () => {
  const file = logOf(2);
  const table = runCommand(['changes', join(file, '..')]);
  expect(await table.ended).toEqual({ code: 0, signal: null });
  const lines = table.out().split('\n');
  expect(lines[0]).toMatch(/^generation +time +collection +created +changed +deleted$/);
  expect(lines[2]).toMatch(/^000000010000 +2001-09-09 01:46:41Z +times +0 +0 +1$/);
  expect(lines[5]).toMatch(/^total +2 +2 +2$/);
  const told = runCommand(['changes', file, '--since', generationOf(1), '--format', 'ndjson']);
  await told.ended;
  const of = { generation: generationOf(2), time: '2001-09-09T01:46:42.000Z' };
  expect(
    told
      .out()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)[1],
  ).toEqual({
    ...of,
    collection: 'notes',
    id: 2 ** 53 - 1,
    change: 'changed',
    before: '02'.repeat(16),
    after: '03'.repeat(16),
  });
  const wrong = runCommand(['changes', file, '--since', 'xyz']);
  expect(await wrong.ended).toEqual({ code: 2, signal: null });
  const nowhere = runCommand(['changes', join(file, '../nowhere')]);
  expect(await nowhere.ended).toEqual({ code: 1, signal: null });
  expect(nowhere.err()).toContain('there is no change log');
});

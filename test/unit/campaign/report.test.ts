// Reports of a campaign, from samples made by hand.
import { expect, test } from 'vitest';
import {
  counted,
  isShort,
  kindHead,
  kindLine,
  memorySlope,
  minuteLine,
  slowLines,
  table,
  type Tally,
  totalOf,
} from '../../campaign/report.ts';
import { outcomeOf } from '../../campaign/strain.ts';

const MB = 1 << 20;
const NOTHING: Tally = { name: 'bytes', turns: 0, verified: 0, tried: 0, injected: 0, worstMs: 0, finds: [] };
const BYTES = counted(NOTHING, outcomeOf({ tried: 30, finds: ['a', 'b'] }), 7.25);
const FAULTS = counted({ ...NOTHING, name: 'faults' }, outcomeOf({ verified: 1200, injected: 2 }), 3);

test('adds up turns, and keeps the longest wait of all', () => {
  const twice = counted(BYTES, outcomeOf({ tried: 1 }), 2);
  expect(twice).toMatchObject({ turns: 2, tried: 31, worstMs: 7.25, finds: ['a', 'b'] });
  expect(totalOf([twice, FAULTS])).toMatchObject({ turns: 3, verified: 1200, tried: 31, injected: 2, worstMs: 7.25 });
});

test('checks a wait by whether it was next to one request or a crowd, and reports each that is too long', () => {
  const waits = (name: string, worstMs: number): Tally => ({ ...NOTHING, name, worstMs });
  const tallies = [waits('heads', 10), waits('bytes', 10.5), waits('crowd', 25), waits('mob', 25.5)];
  expect(
    slowLines(tallies, [{ name: 'heads' }, { name: 'crowd', isCrowd: true }, { name: 'mob', isCrowd: true }]),
  ).toEqual([
    'the watching client waited 10.5 ms beside bytes, longer than 10 ms',
    'the watching client waited 25.5 ms beside mob, longer than 25 ms',
  ]);
});

test('extrapolates 2 MB a minute to 120 MB an hour, ignores one step, and concludes nothing from one sample', () => {
  const samples = [0, 1, 2, 3].map((minute) => ({ seconds: minute * 60, residentBytes: (100 + 2 * minute) * MB }));
  expect(memorySlope(samples)).toBeCloseTo(120, 6);
  const step = Array.from({ length: 20 }, (_, i) => ({ seconds: i * 60, residentBytes: (i < 16 ? 100 : 101) * MB }));
  expect(memorySlope(step)).toBe(0);
  expect(memorySlope(samples.slice(1, 2))).toBe(0);
});

test('prints a line a minute, and at the end a table with a line a fault scenario and one for all', () => {
  expect(minuteLine(3, [BYTES, FAULTS], 150 * MB)).toBe(
    'minute 3: 1200 requests verified, 30 hostilities, 2 faults injected, worst wait 7.3 ms, 150 MB, 2 finds',
  );
  const sample = { seconds: 60, residentBytes: 100 * MB };
  const lines = table([BYTES, FAULTS], [sample], { seconds: 90, residentBytes: 101 * MB }).split('\n');
  expect(lines.slice(0, -1).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['strain', 'turns', 'verified', 'hostile', 'faults', 'worst wait', 'finds'],
    ['bytes', '1', '0', '30', '0', '7.3 ms', '2'],
    ['faults', '1', '1200', '0', '2', '3.0 ms', '0'],
    ['all', '2', '1200', '30', '2', '7.3 ms', '2'],
  ]);
  expect(lines.at(-1)).toBe('memory: 0.0 MB an hour; after a rest 1.0 MB above the first sample');
  expect(table([BYTES], [], sample)).toContain('too short a campaign');
});

test('prints a kind of expensive heads as a line under its head, and marks a wait that is too long', () => {
  const good = { name: 'facets', uws: { alone: 1, crowd: 25 }, node: { alone: 10, crowd: 3.25 } };
  const bad = { ...good, node: { alone: 10.5, crowd: 25.1 } };
  expect(kindHead()).toHaveLength(kindLine(good).length);
  expect(kindLine(good).split(/ {2,}/)).toEqual(['facets', '1.0', '25.0', '10.0', '3.3']);
  expect(kindLine(bad)).toMatch(/ ! 10\.5 +! 25\.1$/);
  expect([isShort(good), isShort(bad)]).toEqual([true, false]);
});

test('prints the request of the longest wait next to it', () => {
  const first = counted(NOTHING, outcomeOf({ what: 'CSV' }), 30);
  const tallies = [counted(first, outcomeOf({ what: 'facets' }), 20)];
  expect(slowLines(tallies, [])).toEqual(['the watching client waited 30.0 ms beside bytes (CSV), longer than 10 ms']);
});

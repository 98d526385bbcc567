import { expect, test } from 'vitest';
import {
  DisagreementReport,
  partingLines,
  PRINTED_MAX,
  refusalLine,
  type Disagreement,
} from '../../differential/disagreements.ts';

const many = (length: number): readonly Disagreement[] =>
  Array.from({ length }, (_, i) => ({ request: `/${i}`, lines: ['neither refuses'] }));

test('prints ten disagreements with their lines under the seed and the totals, and in the next report only totals', () => {
  const report = new DisagreementReport();
  const lines = report.text('seed 7', many(848), { total: 848, asked: 900 }).split('\n');
  expect(lines).toHaveLength(1 + 2 * PRINTED_MAX);
  expect(lines.slice(0, 3)).toEqual([
    'seed 7: 848 of 900 requests disagree, of which 10 follow',
    '/0',
    '  neither refuses',
  ]);
  expect(report.text('seed 7', many(2), { total: 2, asked: 5 })).toBe(
    'seed 7: 2 of 5 requests disagree; as many as are printed stand above',
  );
});

test('prints all if there are fewer than ten', () => {
  expect(new DisagreementReport().text('seed 7', many(1), { total: 1, asked: 3 })).toBe(
    'seed 7: 1 of 3 requests disagree\n/0\n  neither refuses',
  );
});

test('shortens responses to their differences, on one line each', () => {
  const same = 'x'.repeat(1000);
  const [expected, got] = partingLines(`${same}one\n${same}`, `${same}two`);
  expect(expected).toBe(`expected (oracle) ...${'x'.repeat(60)}one\\n${'x'.repeat(116)}...`);
  expect(got).toBe(`got (product)     ...${'x'.repeat(60)}two`);
});

test.each([
  [true, false, 'the oracle refuses, the product does not'],
  [false, true, 'the product refuses, the oracle does not'],
  [true, true, 'both refuse, in other words'],
  [false, false, 'neither refuses'],
])('describes an oracle that refuses (%s) and a product that does (%s) as: %s', (oracle, product, line) => {
  expect(refusalLine(oracle, product)).toBe(line);
});

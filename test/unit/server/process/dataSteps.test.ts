// What operators are told of the steps of the data, and of how orders ended: the last of each, and no more.
import { expect, test } from 'vitest';
import { DataSteps, LastOutcomes } from '../../../../server/process/generations.ts';

const AT_MS = Date.parse('2027-01-01T00:00:00Z');
const [AT, LATER] = ['2027-01-01T00:00:00.000Z', '2027-01-01T00:01:00.000Z'];

test('of each step the last time is told, with its bytes and seconds where it has them', () => {
  const steps = new DataSteps();
  steps.observe({ event: 'swapped', bytes: 7, seconds: 1 }, AT_MS);
  steps.observe({ event: 'crawled', bytes: 5, seconds: 0.5, records: 3 }, AT_MS);
  steps.observe({ event: 'crawled', bytes: 6, seconds: 0.25, records: 4 }, AT_MS + 60_000);
  steps.observe({ event: 'refused', reason: 'no room' }, AT_MS);
  expect(steps.status()).toEqual({
    crawled: { at: LATER, bytes: 6, seconds: 0.25 },
    swapped: { at: AT, bytes: 7, seconds: 1 },
    refused: { at: AT, reason: 'no room' },
  });
  const told = steps.gauges().map(({ name, valuesOf }) => [name, valuesOf()] as const);
  expect(Object.fromEntries(told)).toEqual({
    last_step_timestamp_seconds: [
      ['crawled', AT_MS / 1000 + 60],
      ['swapped', AT_MS / 1000],
      ['refused', AT_MS / 1000],
    ],
    step_bytes: [
      ['crawled', 6],
      ['swapped', 7],
    ],
    step_seconds: [
      ['crawled', 0.25],
      ['swapped', 1],
    ],
  });
});

test('a failure is told until the next one, whatever succeeds behind it', () => {
  const reloads = new LastOutcomes();
  expect(reloads.status()).toEqual({ lastSuccess: null, lastFailure: null });
  reloads.ended('refused', 'damaged', AT_MS);
  reloads.ended('swapped', undefined, AT_MS);
  reloads.ended('unchanged', undefined, AT_MS + 60_000);
  expect(reloads.status()).toEqual({ lastSuccess: LATER, lastFailure: { at: AT, reason: 'damaged' } });
  expect(reloads.seconds).toEqual([
    ['refused', AT_MS / 1000],
    ['swapped', AT_MS / 1000],
    ['unchanged', AT_MS / 1000 + 60],
  ]);
});

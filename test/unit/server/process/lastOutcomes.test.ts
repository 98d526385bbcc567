// What operators are told of how orders ended: the last of each outcome, and no more.
import { expect, test } from 'vitest';
import { LastOutcomes } from '../../../../server/process/generations.ts';

const AT_MS = Date.parse('2027-01-01T00:00:00Z');
const [AT, LATER] = ['2027-01-01T00:00:00.000Z', '2027-01-01T00:01:00.000Z'];

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

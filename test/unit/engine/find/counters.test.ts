// That work on many rows ends soon after it is told to, wherever it is: in steps, joins, orders and facets. Whatever is
// asked, no more than a pass or two over its rows lies between two questions; a new kind of work has its query here.
import { describe, expect, test } from 'vitest';
import { type Counters, newCounters } from '../../../../engine/find/counters.ts';
import { Polling, SLICE_ROWS } from '../../../../engine/find/counters.ts';
import { indexesOf } from '../../../support/index.ts';
import { hitsIfAny } from '../../../support/lists.ts';

const ROWS = 6000;
const PHENOMENA = 1500;
/** The rows that one pass looks at: those of the collection, and those that they are related to, twice as many. */
const PASS = 3 * ROWS;

const link = (id: number): string => `{base_url}/api/v3/phenomona/${id % PHENOMENA}/?format=api`;
const OBSERVATIONS = indexesOf({
  phenomona: Array.from({ length: PHENOMENA }, (_, i) => ({
    ob_id: i,
    names: [{ ob_id: i, name: `t${i % 7}` }],
    terms: [{ ob_id: i, label: `y${i % 2}` }],
  })),
  observations: Array.from({ length: ROWS }, (_, i) => ({
    ob_id: i,
    title: `t${i % 4}`,
    uuid: `u${i % 3}`,
    status: 'final',
    phenomena: [link(i), link(i + 1)],
  })),
})('observations');

const QUERIES: Readonly<Record<string, string>> = {
  'an order by several keys': 'ordering=title,uuid,-ob_id&limit=6000&ob_id__gt=1',
  'an order of all records': 'ordering=title,uuid,-ob_id&limit=6000',
  'an order of those that tie': 'ordering=-uuid,title,-ob_id&offset=2500&limit=10',
  'counts of facets': 'facets=title,uuid,phenomena,status&ob_id__gt=1',
  'joins through links': 'phenomena__names__name=t1&phenomena__terms__label=y0&title=t1',
  'conditions that are negated': 'title__exact!=t1&uuid__exact!=u1&phenomena__names__name__exact!=t2',
};

const workOf = ({ bytesScanned: _bytes, ...rows }: Counters): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0);

/** What was done when it was asked whether to go on, and in all; told to stop at the question of this number. */
function runTo(
  query: string,
  end: number,
): { readonly asked: readonly number[]; readonly done: number; readonly isWhole: boolean } {
  const counters = newCounters();
  const asked: number[] = [];
  const isCancelled = (): boolean => asked.push(workOf(counters)) > end;
  const hits = hitsIfAny(OBSERVATIONS, query, { counters, isCancelled });
  return { asked, done: workOf(counters), isWhole: hits !== undefined };
}

describe.each(Object.entries(QUERIES))('%s', (_, query) => {
  test('end within a pass over the rows wherever they are stopped, and answer nothing', () => {
    const { asked, isWhole } = runTo(query, Infinity);
    expect(isWhole).toBe(true);
    expect(asked.length).toBeGreaterThanOrEqual(2);
    for (let end = 0; end < asked.length; end++) {
      const stopped = runTo(query, end);
      expect(stopped.isWhole).toBe(false);
      expect(stopped.done - asked[end]!, `stopped at question ${end}`).toBeLessThanOrEqual(PASS);
    }
  });

  test('never do more than a pass unasked', () => {
    const { asked, done } = runTo(query, Infinity);
    for (const [i, at] of asked.entries()) expect((asked[i + 1] ?? done) - at).toBeLessThanOrEqual(PASS);
  });
});

test('rows are counted until they are a slice, then it is asked; once stopped, it is asked no more', () => {
  let asked = 0;
  const polling = new Polling(() => ++asked === 2);
  const answers = [1, SLICE_ROWS - 2, 1, SLICE_ROWS - 1, 1, SLICE_ROWS].map((rows) => polling.isStoppedAfter(rows));
  expect(answers).toEqual([false, false, false, false, true, true]);
  expect([polling.isStopped, asked]).toEqual([true, 2]);
});

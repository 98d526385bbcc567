// The work of executing plans and joins. The differential tests compare the results.
import { describe, expect, test } from 'vitest';
import { MEMBERS_MAX } from '../../../../engine/query/limits.ts';
import { type Counters, newCounters } from '../../../../engine/find/counters.ts';
import { rowOfId } from '../../../../engine/index/table.ts';
import { indexesOf, indexOf } from '../../../support/index.ts';
import { hitsIfAny, hitsOf, idsOf } from '../../../support/lists.ts';

test('finds a record by a link to it, whatever the spelling of the id in the link', () => {
  const platforms = Array.from({ length: 40 }, (_, i) => ({ ob_id: i, uuid: `p${i}` }));
  const ids = [...platforms.map(({ ob_id }) => String(ob_id)), '07'];
  const ipps = ids.map((id, i) => ({ ob_id: i, platform: `{base_url}/api/v3/platforms/${id}/?format=api` }));
  expect(idsOf(indexesOf({ ipps, platforms })('ipps'), 'platform__uuid=p7')).toEqual([7, 40]);
});

describe('the work of a plan', () => {
  const collection = indexOf(
    'computations',
    Array.from({ length: 2000 }, (_, i) => ({
      ob_id: i * 2,
      uuid: `u${i}`,
      title: i % 3 === 0 ? 'ocean' : 'air',
      abstract: `${'x'.repeat(60)}${i}`,
    })),
  );

  test.each(['', 'title=ocean', 'title!=ocean', 'title__startswith=o', 'abstract__contains=x1'])(
    'is the same at every offset of %j',
    (query) => {
      const work = (offset: number): unknown => {
        const counters = newCounters();
        const { rows } = hitsOf(collection, `${query}&limit=10&offset=${offset}`, { counters });
        expect(rows.kind === 'list' ? rows.rows.length : 10).toBe(10);
        return counters;
      };
      expect(work(600)).toEqual(work(0));
    },
  );

  test('omits a scan if no rows remain, and scans few rows if few remain', () => {
    const bytesOf = (query: string): number => {
      const counters = newCounters();
      hitsOf(collection, query, { counters });
      return counters.bytesScanned;
    };
    expect(bytesOf('abstract__contains=xx1')).toBeGreaterThan(100_000);
    expect(bytesOf('abstract__contains=xx1&uuid=none')).toBe(0);
    expect(bytesOf('abstract__contains=xx1&uuid=u100')).toBeLessThan(100);
    expect(bytesOf('abstract__contains!=xx1&uuid=u100')).toBeLessThan(100);
  });

  test('of a long list of values is one set', () => {
    const ids = Array.from({ length: MEMBERS_MAX }, (_, i) => (i * 7919) % MEMBERS_MAX).join(',');
    const listed = hitsOf(collection, `ob_id__in=${ids}&limit=1`);
    expect(listed.count).toBe(2000);
    expect(rowOfId(collection, 0)).toBe(0);
  });

  test('ends when it is cancelled', () => {
    let polls = 0;
    expect(hitsIfAny(collection, 'abstract__contains=xx1', { isCancelled: () => ++polls === 2 })).toBeUndefined();
    expect(polls).toBe(2);
  });
});

describe('the work of a join', () => {
  const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
  const catalogue = indexesOf({
    observations: Array.from({ length: 3000 }, (_, i) => ({
      ob_id: i,
      uuid: `u${i}`,
      procedureComputation: i % 10 === 0 ? null : link('computations', i % 100),
      identifier_set: [link('identifiers', i), link('identifiers', i + 5000)],
    })),
    computations: Array.from({ length: 90 }, (_, i) => ({ ob_id: i, title: `t${i}`, abstract: 'x'.repeat(2000) + i })),
    identifiers: Array.from({ length: 6000 }, (_, i) => ({ ob_id: i, url: `http://x/${i}`, identifierType: 'doi' })),
  });
  const workOf = (query: string): Counters => {
    const counters = newCounters();
    hitsOf(catalogue('observations'), `${query}&limit=1`, { counters });
    return counters;
  };

  test('is that of the matching rows, not of the collections', () => {
    const { rowsTouched, postingsVisited } = workOf('procedureComputation__title=t3');
    expect(rowsTouched + postingsVisited).toBeLessThan(100);
    const single = workOf('identifier_set__url=http://x/1');
    expect(single.rowsTouched + single.postingsVisited).toBeLessThan(20);
  });

  test('is that of the remaining rows if these are fewer than the matching ones', () => {
    const { rowsTouched, postingsVisited, bytesScanned } = workOf(
      'uuid=u7&procedureComputation__abstract__contains=x&identifier_set__url__contains=7',
    );
    expect(rowsTouched).toBeLessThan(20);
    expect(bytesScanned).toBeLessThan(5000);
    expect(postingsVisited).toBeLessThan(20);
  });
});

// Facets: null next to a text `null` and to misfits, values that are too long to show, and the work.
import { describe, expect, test } from 'vitest';
import { FACET_BYTES_MAX } from '../../../../engine/find/facetCounts.ts';
import { newCounters } from '../../../../engine/find/counters.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { indexOf } from '../../../support/index.ts';
import { hitsOf } from '../../../support/lists.ts';

function facets(collection: CollectionIndex, query: string): Record<string, readonly (readonly [string, number])[]> {
  return Object.fromEntries(hitsOf(collection, query).facets.map(({ name, values }) => [name, values]));
}

describe('facets', () => {
  test('skip each value whose text would exceed the limit with those already shown', () => {
    const shown = (...lengths: readonly number[]): readonly string[] => shownOf('facets=title', ...lengths);
    const shownOf = (query: string, ...lengths: readonly number[]): readonly string[] => {
      const texts = lengths.map((length, i) => (length === 0 ? null : 'abcd'[i]!.repeat(length)));
      const titled = indexOf(
        'observations',
        texts.map((title, i) => ({ ob_id: i, title })),
      );
      return facets(titled, query)['title']!.map(([text]) => text.replace(/^(.)\1*$/, '$1'));
    };
    const half = FACET_BYTES_MAX / 2;
    expect(shown(half, half, 0)).toEqual(['a', 'b', 'null']);
    expect(shown(half, half + 1, 1)).toEqual(['a', 'c']);
    expect(shown(FACET_BYTES_MAX + 1, 1, 0)).toEqual(['b', 'null']);
    // Each of two gets half of it.
    expect(shownOf('facets=title,ob_id', half, 1)).toEqual(['a']);
    expect(shownOf('facets=title,ob_id', half + 1, 1)).toEqual(['b']);
  });

  test('count null and a text null under one key', () => {
    const observations = indexOf(
      'observations',
      [null, 'null', 'null', 'x'].map((language, i) => ({ ob_id: i, language })),
    );
    expect(facets(observations, 'facets=language')['language']).toEqual([
      ['null', 3],
      ['x', 1],
    ]);
  });

  test.each([
    [
      'with texts that are not dates',
      ['2016-05-01', null, 'a', 'null', '{base_url}/x', '2016-05-01', null],
      { null: 5, '2016-05-01': 2 },
    ],
    [
      'with days in several spellings',
      ['null', '2016-05-01', '2016-05-01T00:00:00Z', null],
      { '2016-05-01': 2, null: 2 },
    ],
    ['where no text is a day', ['a', null, 'null', 'zzz'], { null: 4 }],
    ['where no text is null', ['2016-05-01', 'zzz', 'a', null], { null: 3, '2016-05-01': 1 }],
  ])('count null and misfits of dates and times under one key, %s', (_, values, expected) => {
    const dates = indexOf(
      'migrationproperties',
      values.map((modified, id) => ({ id, modified })),
    );
    const times = indexOf(
      'observations',
      values.map((dataPublishedTime, i) => ({ ob_id: i, dataPublishedTime })),
    );
    expect(facets(dates, 'facets=modified')).toEqual({ modified: Object.entries(expected) });
    expect(facets(times, 'facets=dataPublishedTime')).toEqual({ dataPublishedTime: Object.entries(expected) });
  });

  test('are counted row by row of a filtered set', () => {
    const observations = indexOf(
      'observations',
      Array.from({ length: 3000 }, (_, i) => ({
        ob_id: i,
        status: i % 3 === 0 ? 'completed' : 'ongoing',
        nonGeographicFlag: i % 2 === 0,
      })),
    );
    const counters = newCounters();
    hitsOf(observations, 'facets=status&nonGeographicFlag=true', { counters });
    expect(counters.rowsCounted).toBeGreaterThan(0);
    expect(counters.rowsCounted).toBeLessThanOrEqual(1500);
  });
});

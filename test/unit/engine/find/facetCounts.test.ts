// Facets against plain counts: by value, each record once, the most frequent first.
import { describe, expect, test } from 'vitest';
import { FACET_BYTES_MAX, FACET_VALUES_MAX } from '../../../../engine/find/facetCounts.ts';
import { FACETS_MAX } from '../../../../engine/query/limits.ts';
import { newCounters } from '../../../../engine/find/counters.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf, hitsOf } from '../../../support/lists.ts';

function facets(collection: CollectionIndex, query: string): Record<string, readonly (readonly [string, number])[]> {
  return Object.fromEntries(hitsOf(collection, query).facets.map(({ name, values }) => [name, values]));
}

const term = (id: number, label: string, value: string | null) => ({ ob_id: id, label, value, vocabulary: '' });
const phenomena = indexOf('phenomona', [
  { ob_id: 1, names: [], terms: [term(1, 'units', 'K'), term(2, 'units', 'm'), term(3, 'null', 'null')] },
  { ob_id: 2, names: [], terms: [term(4, 'units', 'K'), term(5, 'var_id', null)] },
  { ob_id: 5, names: [], terms: [] },
]);
const observations = indexOf(
  'observations',
  Array.from({ length: 3000 }, (_, i) => ({
    ob_id: i,
    title: `title ${i % 150}`,
    status: i % 3 === 0 ? 'completed' : 'ongoing',
    language: i % 500 === 0 ? null : 'null',
    nonGeographicFlag: i % 2 === 0,
    projects: i % 4 === 0 ? [] : [`{base_url}/api/v3/projects/${i % 4}/?format=api`],
  })),
);

describe('facets', () => {
  test('name own URLs as they are served', () => {
    const properties = indexOf('migrationproperties', [
      { id: 1, key: '{base_url}/x' },
      { id: 2, key: 'a' },
    ]);
    const { key } = facets(properties, 'facets=key');
    expect(key!.map(([value]) => value)).toEqual(['a', expect.stringMatching(/^http.*\/x$/)]);
  });

  test('count records by value, the most frequent first and then by value', () => {
    expect(facets(observations, 'facets=status,nonGeographicFlag')).toEqual({
      status: [
        ['ongoing', 2000],
        ['completed', 1000],
      ],
      nonGeographicFlag: [
        ['false', 1500],
        ['true', 1500],
      ],
    });
  });

  test('count what the filters leave, whatever the page', () => {
    const query = 'facets=nonGeographicFlag&status=completed&ob_id__in=0,3,6,9,12,1';
    expect(facets(observations, `${query}&limit=1&offset=4`)).toEqual({
      nonGeographicFlag: [
        ['true', 3],
        ['false', 2],
      ],
    });
    expect(facets(observations, 'facets=nonGeographicFlag&status=completed')).toEqual({
      nonGeographicFlag: [
        ['false', 500],
        ['true', 500],
      ],
    });
    expect(facets(observations, 'facets=status&status=x')).toEqual({ status: [] });
  });

  test(`show ${FACET_VALUES_MAX} values, of equal counts the first`, () => {
    const { title } = facets(observations, 'facets=title');
    expect(title).toHaveLength(FACET_VALUES_MAX);
    expect(title![0]).toEqual(['title 0', 20]);
    expect(title![2]).toEqual(['title 10', 20]);
  });

  test('leave out each value with whose text those that are shown would pass the limit', () => {
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
    // Of two each has half of it.
    expect(shownOf('facets=title,ob_id', half, 1)).toEqual(['a']);
    expect(shownOf('facets=title,ob_id', half + 1, 1)).toEqual(['b']);
  });

  test('count a record once a value of a to-many relation, and under null where a related row has none', () => {
    expect(facets(phenomena, 'facets=terms__label,terms__value,terms')).toEqual({
      terms__label: [
        ['units', 2],
        ['null', 2],
        ['var_id', 1],
      ].toSorted((a, b) => Number(b[1]) - Number(a[1]) || (a[0]! < b[0]! ? -1 : 1)),
      terms__value: [
        ['null', 3],
        ['K', 2],
        ['m', 1],
      ],
      terms: [
        ['1', 1],
        ['2', 1],
        ['3', 1],
        ['4', 1],
        ['5', 1],
        ['null', 1],
      ],
    });
  });

  test('count links by id', () => {
    expect(facets(observations, 'facets=projects')).toEqual({
      projects: [
        ['1', 750],
        ['2', 750],
        ['3', 750],
        ['null', 750],
      ],
    });
  });

  test('count null and a text null under one key', () => {
    expect(facets(observations, 'facets=language')).toEqual({ language: [['null', 3000]] });
  });

  test.each([
    [
      'with texts that are none',
      ['2016-05-01', null, 'a', 'null', '{base_url}/x', '2016-05-01', null],
      { null: 5, '2016-05-01': 2 },
    ],
    [
      'beside days that are written differently',
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

  test('count a filtered set row by row, or by bitmaps, with the same outcome', () => {
    const counters = newCounters();
    hitsOf(observations, 'facets=status&nonGeographicFlag=true', { counters });
    expect(counters.rowsCounted).toBeGreaterThan(0);
    expect(counters.rowsCounted).toBeLessThanOrEqual(1500);
  });

  test('of names that are no field are refused', () => {
    expect(askOf(observations, 'facets=status,statos,foo,status__x').problems).toEqual([
      {
        key: 'facets',
        messages: [
          'Unknown field "statos". Did you mean "status"?',
          'Unknown field "foo".',
          'Unknown field "status__x".',
        ],
      },
    ]);
    const many = Array.from({ length: FACETS_MAX + 1 }, (_, i) => `f${i}`).join();
    expect(askOf(observations, `facets=${many}`).problems[0]!.messages.at(-1)).toBe(
      'At most 10 facets can be asked for at once.',
    );
  });

  test('that are not asked for are not there', () => {
    expect(facets(observations, 'facets=')).toEqual({});
    expect(facets(observations, 'facets=, ,')).toEqual({});
  });
});

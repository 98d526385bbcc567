// What ordering, facets and after mean, and what is said about those that mean nothing.
import { describe, expect, test } from 'vitest';
import type { Ask } from '../../../../engine/query/ask.ts';
import { FACETS_MAX, ORDER_KEYS_MAX } from '../../../../engine/query/limits.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf } from '../../../support/lists.ts';

const observations = indexOf('observations', [{ ob_id: 1 }]);

function read(parameters: readonly (readonly [string, string])[], isStrict = false): Ask {
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return askOf(observations, query, { isStrict });
}

describe('ordering', () => {
  test('is read key by key, - descending, later repeats without effect', () => {
    const { page, ignored, problems } = read([['ordering', 'uuid, -title,,title,-result_field__volume']]);
    expect(page.order).toEqual([
      { path: ['uuid'], isDescending: false },
      { path: ['title'], isDescending: true },
      { path: ['result_field', 'volume'], isDescending: true },
    ]);
    expect({ ignored, problems }).toEqual({ ignored: [], problems: [] });
  });

  test('takes a to-one relation by its id, under either name', () => {
    expect(read([['ordering', 'result_field,-result_field__ob_id']]).page.order).toEqual([
      { path: ['result_field'], isDescending: false },
    ]);
  });

  test('ends with the id, since that leaves no ties', () => {
    expect(read([['ordering', 'title,ob_id,uuid']]).page.order).toEqual([{ path: ['title'], isDescending: false }]);
    expect(read([['ordering', '-ob_id,uuid']]).page.order).toEqual([{ path: ['ob_id'], isDescending: true }]);
  });

  test('is by all of several, in query order', () => {
    expect(
      read([
        ['ordering', 'uuid'],
        ['ordering', '-title,-uuid'],
      ]).page.order,
    ).toEqual([
      { path: ['uuid'], isDescending: false },
      { path: ['title'], isDescending: true },
    ]);
  });

  test('ignores and reports names that are no field of at most one value', () => {
    const { page, ignored, problems } = read([
      ['x', ''],
      ['ordering', '-foo,projects,uuid,foo,discoveryKeywords__name,-'],
    ]);
    expect(page.order).toEqual([{ path: ['uuid'], isDescending: false }]);
    expect(problems).toEqual([]);
    expect(ignored).toEqual([
      'x',
      ['ordering', 'foo'],
      ['ordering', 'projects'],
      ['ordering', 'discoveryKeywords__name'],
    ]);
  });

  test('is refused where it is strict, with what may have been meant', () => {
    const messages = ['Unknown field "titles". Did you mean "title"?', 'Unknown field "foo".'];
    expect(read([['ordering', '-titles,foo']], true).problems).toEqual([{ key: 'ordering', messages }]);
  });
});

describe('fields to order by beyond the limit', () => {
  const fields = ['title', 'status', 'abstract', 'uuid', 'keywords', 'dataLineage', 'publicationState'];
  const embedded = ['volume', 'fileFormat', 'numberOfFiles', 'oldDataPath'].map((name) => `result_field__${name}`);
  const names = [...fields, ...embedded];

  test('are refused, strict or not, whatever their directions; none is counted twice, and unknown ones are not', () => {
    const most = names.slice(0, ORDER_KEYS_MAX);
    const twice = [...most, ...most.map((name) => `-${name}`), 'foo'].join();
    expect(read([['ordering', twice]])).toMatchObject({ problems: [], ignored: [['ordering', 'foo']] });
    for (const isStrict of [false, true]) {
      const { problems } = read([['ordering', [...names.slice(0, ORDER_KEYS_MAX), '-ob_id'].join()]], isStrict);
      expect(problems).toEqual([{ key: 'ordering', messages: ['At most 10 fields can be ordered by at once.'] }]);
    }
  });
});

describe('facets', () => {
  test('are the names asked for, once each', () => {
    expect(read([['facets', 'status, projects,,status,result_field__volume']])).toMatchObject({
      page: {
        facets: [
          { name: 'status', path: ['status'] },
          { name: 'projects', path: ['projects'] },
          { name: 'result_field__volume', path: ['result_field', 'volume'] },
        ],
      },
      ignored: [],
      problems: [],
    });
  });

  test('that are no field, or too many, are refused, strict or not, once for all of them', () => {
    const many = Array.from({ length: FACETS_MAX }, () => 'status').join();
    expect(read([['facets', `${many},title`]]).problems).toEqual([]);
    const names = Array.from({ length: FACETS_MAX + 1 }, (_, i) => `f${i}`);
    const unknown = names.map((name) => `Unknown field "${name}".`);
    const messages = [...unknown, 'At most 10 facets can be asked for at once.'];
    for (const isStrict of [false, true]) {
      const { ignored, problems } = read([['facets', names.join()]], isStrict);
      expect({ ignored, problems }).toEqual({ ignored: [], problems: [{ key: 'facets', messages }] });
    }
  });

  test.each(['ndjson', 'csv'])('are none of an export as %s, where wrong ones are refused all the same', (format) => {
    const exported = (facets: string): Ask =>
      read([
        ['facets', facets],
        ['format', format],
      ]);
    expect(exported('status')).toMatchObject({ page: { facets: [] }, problems: [] });
    expect(exported('status').ignored).toEqual(['facets']);
    expect(exported('foo').problems).toEqual([{ key: 'facets', messages: ['Unknown field "foo".'] }]);
  });
});

test('a field that fits no order or facet is told why, and not called unknown', () => {
  const several = '"phenomena" has several values, and no order by them.';
  const linked = '"projects__ob_id" leads through a link, to fields that can only be filtered.';
  const names = 'phenomena,projects__ob_id,projects__foo';
  expect(read([['ordering', names]], true).problems).toEqual([
    { key: 'ordering', messages: [several, linked, 'Unknown field "projects__foo".'] },
  ]);
  expect(read([['facets', names]]).problems).toEqual([
    { key: 'facets', messages: [linked, 'Unknown field "projects__foo".'] },
  ]);
});

test.each(['pretty', 'facets'])('%s of an export is named, and refused where it is strict', (name) => {
  const asked: readonly [string, string][] = [
    ['format', 'csv'],
    [name, name === 'facets' ? 'status' : '1'],
  ];
  expect(read(asked)).toMatchObject({ ignored: [name], problems: [] });
  expect(read(asked, true).problems).toEqual([{ key: name, messages: ['An export has no place for this.'] }]);
});

test('of a longer list it is said which member is wrong', () => {
  const [wrong, which] = ['Enter a whole number.', `Member 5 is "${'x'.repeat(40)}".`];
  expect(read([['ob_id__in', '1,x']]).problems).toEqual([{ key: 'ob_id__in', messages: [wrong] }]);
  const members = `1,2,3,4, ${'x'.repeat(50)},y`;
  expect(read([['ob_id__in', members]]).problems).toEqual([{ key: 'ob_id__in', messages: [wrong, which] }]);
});

describe('after', () => {
  test.each([
    ['7', 7],
    [' +007.0 ', 7],
    ['-1', -1],
    ['9007199254740991', 9007199254740991],
    ['9'.repeat(400), Infinity],
  ])('%j is the id %d', (text, after) => {
    expect(read([['after', text]])).toMatchObject({ page: { after }, ignored: [], problems: [] });
  });

  test.each([
    ['', 'This field is required.'],
    ['abc', 'Enter a whole number.'],
    ['1.5', 'Enter a whole number.'],
    ['1\0', 'Null characters are not allowed.'],
  ])('%j is refused: %s', (text, message) => {
    expect(read([['after', text]]).problems).toEqual([{ key: 'after', messages: [message] }]);
  });

  test('goes neither with an order nor with an offset, whatever their values', () => {
    expect(
      read([
        ['offset', ''],
        ['after', '3'],
        ['ordering', ''],
      ]).problems,
    ).toEqual([{ key: 'after', messages: ['Not together with "ordering".', 'Not together with "offset".'] }]);
  });
});

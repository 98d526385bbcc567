// What ordering and after mean, and what is said about those that mean nothing.
import { describe, expect, test } from 'vitest';
import { readListControls, type ListControls } from '../../../../engine/query/listControls.ts';
import { indexOf } from '../../../support/index.ts';

const observations = indexOf('observations', [{ ob_id: 1 }]);

function read(parameters: readonly (readonly [string, string])[], isStrict = false): ListControls {
  return readListControls(observations, parameters, isStrict);
}

describe('ordering', () => {
  test('is read key by key, - descending, later repeats without effect', () => {
    const { order, remarks } = read([['ordering', 'uuid, -title,,title,-result_field__volume']]);
    expect(order).toEqual([
      { path: ['uuid'], isDescending: false },
      { path: ['title'], isDescending: true },
      { path: ['result_field', 'volume'], isDescending: true },
    ]);
    expect(remarks.size).toBe(0);
  });

  test('takes a to-one relation by its id, under either name', () => {
    expect(read([['ordering', 'result_field,-result_field__ob_id']]).order).toEqual([
      { path: ['result_field'], isDescending: false },
    ]);
  });

  test('ends with the id, since that leaves no ties', () => {
    expect(read([['ordering', 'title,ob_id,uuid']]).order).toEqual([{ path: ['title'], isDescending: false }]);
    expect(read([['ordering', '-ob_id,uuid']]).order).toEqual([{ path: ['ob_id'], isDescending: true }]);
  });

  test('is the last one of several', () => {
    expect(
      read([
        ['ordering', 'uuid'],
        ['ordering', 'title'],
      ]).order,
    ).toEqual([{ path: ['title'], isDescending: false }]);
  });

  test('ignores and reports names that are no field of at most one value', () => {
    const { order, remarks } = read([
      ['x', ''],
      ['ordering', '-foo,projects,uuid,foo,discoveryKeywords__name,-'],
    ]);
    expect(order).toEqual([{ path: ['uuid'], isDescending: false }]);
    expect(remarks.get(1)).toEqual({
      problem: undefined,
      ignored: [
        ['ordering', 'foo'],
        ['ordering', 'projects'],
        ['ordering', 'discoveryKeywords__name'],
      ],
    });
  });

  test('is refused where it is strict, with what may have been meant', () => {
    expect(read([['ordering', '-titles,foo']], true).remarks.get(0)?.problem).toEqual({
      key: 'ordering',
      messages: ['Unknown field "titles". Did you mean "title"?', 'Unknown field "foo".'],
    });
  });
});

describe('after', () => {
  test.each([
    ['7', 7],
    [' +007.0 ', 7],
    ['-1', -1],
    ['9007199254740991', 9007199254740991],
    ['9'.repeat(400), Infinity],
  ])('%j is the id %d', (text, after) => {
    expect(read([['after', text]])).toMatchObject({ after, remarks: new Map() });
  });

  test.each([
    ['', 'This field is required.'],
    ['abc', 'Enter a whole number.'],
    ['1.5', 'Enter a whole number.'],
    ['1\0', 'Null characters are not allowed.'],
  ])('%j is refused: %s', (text, message) => {
    expect(read([['after', text]]).remarks.get(0)?.problem).toEqual({ key: 'after', messages: [message] });
  });

  test('goes neither with an order nor with an offset, whatever their values', () => {
    expect(
      read([
        ['offset', ''],
        ['after', '3'],
        ['ordering', ''],
      ]).remarks.get(1)?.problem,
    ).toEqual({
      key: 'after',
      messages: ['Not together with "ordering".', 'Not together with "offset".'],
    });
  });
});

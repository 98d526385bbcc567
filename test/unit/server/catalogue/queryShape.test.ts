import { expect, test } from 'vitest';
import { queryShape } from '../../../../server/catalogue/queryShape.ts';

test.each([
  ['', ''],
  ['limit=1', 'limit'],
  ['title__contains=limit&status__in=a,b&limit=2&limit=3', 'limit&status__in&title__contains'],
  ['status!=x&status__in!=y', 'status!&status__in!'],
  ['status', 'status'],
  ['&&=x&limit=1', 'limit'],
  ['geographicExtent__northBoundLatitude__gte=1', 'geographicExtent__northBoundLatitude__gte'],
  ['password=1&title__password=2&__=3&a%22b=4&"=5', '*'],
  ['title!!=1', '*'],
])('makes of %j the shape %j', (query, shape) => expect(queryShape(query)).toBe(shape));

test('is bounded, however long the query is', () => {
  const words = ['status', 'title', 'uuid', 'keywords', 'abstract'];
  const names = words.flatMap((word) =>
    words.flatMap((next) => ['in', 'gt', 'lt'].map((end) => `${word}__${next}__${end}`)),
  );
  const shape = queryShape(names.map((name) => `${name}=1`).join('&'));
  expect(shape.length).toBeLessThanOrEqual(260);
  expect(shape).toMatch(/&\.\.\.$/);
  expect(queryShape('limit=1&'.repeat(100_000))).toBe('limit');
  expect(queryShape(`${'status__'.repeat(2000)}=1`).length).toBeLessThanOrEqual(260);
});

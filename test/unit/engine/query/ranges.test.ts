// gt, gte, lt, lte and range where doubles, spellings and base URLs could mislead them.
import { describe, expect, test } from 'vitest';
import { indexOf } from '../../../support/index.ts';
import { BASE_URL, idsOf } from '../find/found.ts';

test('integers beyond 2^53 and of 400 digits have an exact order', () => {
  const long = 10n ** 399n;
  const values = [-long, 9007199254740991n, 9007199254740992n, 9007199254740993n, 9007199254740994n, long, long + 1n];
  const properties = indexOf(
    'migrationproperties',
    values.map((value, id) => ({ id, ob_ref: value })),
  );
  const lookups = { gt: (a: bigint, b: bigint) => a > b, gte: (a: bigint, b: bigint) => a >= b };
  for (const [name, holds] of Object.entries(lookups)) {
    for (const operand of [...values, 0n, long - 1n, long + 2n, -long - 1n]) {
      const above = values.flatMap((value, id) => (holds(value, operand) ? [id] : []));
      const below = values.flatMap((value, id) => (holds(operand, value) ? [id] : []));
      expect(idsOf(properties, `ob_ref__${name}=${operand}`)).toEqual(above);
      expect(idsOf(properties, `ob_ref__${name.replace('g', 'l')}=${operand}.00`)).toEqual(below);
    }
  }
  expect(idsOf(properties, 'ob_ref__range=9007199254740992,9007199254740993')).toEqual([2, 3]);
  expect(idsOf(properties, 'ob_ref__range=9007199254740993,9007199254740992')).toEqual([]);
  expect(idsOf(properties, `ob_ref__range=${long},${long}`)).toEqual([5]);
  expect(idsOf(properties, `ob_ref__range!=5,${long}`)).toEqual([0, 6]);
});

test('of integers that one double stands for those of a value are found among all of them', () => {
  const long = 10n ** 399n;
  const values = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? -1n : 1n) * (long + BigInt((i * 7) % 300)));
  const properties = indexOf(
    'migrationproperties',
    values.map((value, id) => ({ id, ob_ref: value })),
  );
  for (const operand of [...values.slice(0, 20), long - 1n, long + 300n, -long, 0n]) {
    const idsWhere = (holds: (value: bigint) => boolean): number[] =>
      values.flatMap((value, id) => (holds(value) ? [id] : []));
    expect(idsOf(properties, `ob_ref=${operand}`)).toEqual(idsWhere((value) => value === operand));
    expect(idsOf(properties, `ob_ref__in=${operand},${values[50]}`)).toEqual(
      idsWhere((value) => value === operand || value === values[50]),
    );
    expect(idsOf(properties, `ob_ref__gt=${operand}`)).toEqual(idsWhere((value) => value > operand));
    expect(idsOf(properties, `ob_ref__range=${operand},${values[50]}`)).toEqual(
      idsWhere((value) => value >= operand && value <= values[50]!),
    );
  }
});

test('dates have the order of their instants, where doubles round them too', () => {
  const times = ['9999-12-31T23:59:59.999997', '9999-12-31T23:59:59.999998', '9999-12-31T22:59:59.999999-01:00'];
  const properties = indexOf(
    'migrationproperties',
    [...times, '0001-01-01', 'unknown', null, '9999-12-31T23:00:00.5-01:00'].map((modified, id) => ({ id, modified })),
  );
  expect(idsOf(properties, `modified__gt=${times[0]}`)).toEqual([1, 2, 6]);
  expect(idsOf(properties, `modified__lte=${times[1]}`)).toEqual([0, 1, 3]);
  expect(idsOf(properties, `modified__range=${times[1]},9999-12-31T23:59:59.999999Z`)).toEqual([1, 2]);
  expect(idsOf(properties, 'modified__gt=9999-12-31&modified__lt!=9999-12-31T23:59:59.999998')).toEqual([1, 2, 6]);
  expect(idsOf(properties, 'modified__year=9999')).toEqual([0, 1, 2]);
  expect(idsOf(properties, 'modified__year=10000')).toEqual([6]);
  expect(idsOf(properties, 'modified__date=9999-12-31')).toEqual([0, 1, 2]);
  expect(idsOf(properties, 'modified__second=59')).toEqual([0, 1, 2]);
  expect(idsOf(properties, 'modified__second!=59')).toEqual([3, 4, 5, 6]);
  expect(idsOf(properties, 'modified__isnull=true')).toEqual([5]);
});

test('a date behind a byte order mark is none', () => {
  const properties = indexOf('migrationproperties', [
    { id: 0, modified: '\ufeff2020-01-02' },
    { id: 1, modified: '2020-01-02' },
  ]);
  expect(idsOf(properties, 'modified__month=1')).toEqual([1]);
  expect(idsOf(properties, 'modified__year=2020')).toEqual([1]);
});

describe('own URLs are ordered as they are served', () => {
  const titles = ['{base_url}/api/v3/times/7/', 'http://a', 'http://z', '{base_urL}', '{base_url}', 'zebra'];
  const computations = indexOf(
    'computations',
    titles.map((title, ob_id) => ({ ob_id, title })),
  );

  test.each([
    ...titles.map((title) => title.replace('{base_url}', BASE_URL)),
    `${BASE_URL}/api`,
    'http://localhost',
    'http://localhost:8080/api/v4',
    'i',
    '{',
    '~',
    '',
  ])('around %j', (operand) => {
    const query = encodeURIComponent(operand);
    for (const version of ['v2', 'v3'] as const) {
      const served = titles.map((title) => title.replace('{base_url}', BASE_URL).replace('/api/v3', `/api/${version}`));
      const ids = (holds: (title: string) => boolean): number[] =>
        served.flatMap((title, id) => (holds(title) ? [id] : []));
      expect(idsOf(computations, `title__gt=${query}`, version)).toEqual(ids((title) => title > operand));
      expect(idsOf(computations, `title__gte=${query}`, version)).toEqual(ids((title) => title >= operand));
      expect(idsOf(computations, `title__lt=${query}`, version)).toEqual(ids((title) => title < operand));
      expect(idsOf(computations, `title__range=${query},http://m`, version)).toEqual(
        ids((title) => title >= operand && title <= 'http://m'),
      );
    }
  });
});

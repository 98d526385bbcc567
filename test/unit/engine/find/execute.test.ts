// Plans and their execution against plain loops on random records and conditions, and the work that they do.
import { describe, expect, test } from 'vitest';
import { MEMBERS_MAX } from '../../../../engine/query/limits.ts';
import { newCounters } from '../../../../engine/find/counters.ts';
import { rowOfId } from '../../../../engine/index/table.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';
import { indexOf, indexOfDeclared, type RecordValue } from '../../../support/index.ts';
import { FORM, hitsIfAny, hitsOf, idsOf } from '../../../support/lists.ts';
import { randomOf, type Random } from '../../../support/random.ts';
import { naiveMatches, type NaiveCondition } from './naive.ts';

function link(to: string, id: number): string {
  return `{base_url}/api/v3/${to}/${id}/?format=api`;
}

describe('phenomena', () => {
  const phenomena = indexOf('phenomona', [
    { ob_id: 1, names: [{ ob_id: 1, name: 'air' }], terms: [{ ob_id: 1, label: 'units', value: 'K', vocabulary: '' }] },
    {
      ob_id: 2,
      names: [],
      terms: [
        { ob_id: 2, label: 'units', value: 'm', vocabulary: '' },
        { ob_id: 3, label: 'var_id', value: 'K', vocabulary: 'cf' },
      ],
    },
    { ob_id: 5, names: [{ ob_id: 1, name: 'air' }], terms: [] },
  ]);

  test.each([
    ['', [1, 2, 5]],
    ['terms__label=units', [1, 2]],
    ['terms__value=K', [1, 2]],
    ['terms__label=units&terms__value=K', [1]],
    ['terms__label=units&terms__value!=K', []],
    ['terms__value!=K', [5]],
    ['terms__value!=K&terms__label!=units', [5]],
    ['names=1', [1, 5]],
    ['names!=1', [2]],
    ['names__name__startswith=a&terms__label__contains=nit', [1]],
    ['terms__in=1,3', [1, 2]],
    ['terms__in=', []],
    ['terms__in!=', [1, 2, 5]],
    ['terms__vocabulary=', [1, 2]],
    ['limit=1&offset=1', [2]],
    ['offset=9', []],
  ])('%s are %j', (query, ids) => {
    expect(idsOf(phenomena, query)).toEqual(ids);
  });

  test('are counted exactly, whatever the page', () => {
    expect(hitsOf(phenomena, 'terms__label=units&limit=1').count).toBe(2);
    expect(hitsOf(phenomena, 'terms__label=units&offset=99').count).toBe(2);
  });
});

describe('own URLs are compared as they are served', () => {
  const computations = indexOf('computations', [
    { ob_id: 1, title: '{base_url}/api/v3/times/7/' },
    { ob_id: 2, title: '{base_url}' },
    { ob_id: 3, title: 'see {base_url}/api/' },
    { ob_id: 4, title: 'http://localhost:8080/api/v3/times/7/' },
    { ob_id: 5, title: 'http://localhost' },
    { ob_id: 6, title: '{base_ur' },
    { ob_id: 7, title: null },
  ]);

  test.each([
    ['title=http://localhost:8080/api/v3/times/7/', [1, 4]],
    ['title=http://localhost:8080', [2]],
    ['title={base_url}', []],
    ['title__startswith={', [6]],
    ['title__startswith={base_url}', []],
    ['title__startswith=http://local', [1, 2, 4, 5]],
    ['title__startswith=http://localhost:8080/api', [1, 4]],
    ['title__startswith=', [1, 2, 3, 4, 5, 6]],
    ['title__contains=base_ur', [3, 6]],
    ['title__contains=80/api', [1, 4]],
    ['title__contains=8080', [1, 2, 4]],
    ['title__contains=', [1, 2, 3, 4, 5, 6]],
    ['title__contains!=8080', [3, 5, 6, 7]],
    ['title__in=http://localhost:8080,{base_ur', [2, 6]],
  ])('%s finds %j', (query, ids) => {
    expect(idsOf(computations, query)).toEqual(ids);
  });
});

test('integers beyond 2^53 and of 400 digits are compared exactly', () => {
  const long = 10n ** 399n;
  const properties = indexOf(
    'migrationproperties',
    [9007199254740991n, 9007199254740992n, 9007199254740993n, 9007199254740994n, long, long + 1n].map((value, id) => ({
      id,
      ob_ref: value,
    })),
  );
  expect(idsOf(properties, 'ob_ref=9007199254740992')).toEqual([1]);
  expect(idsOf(properties, 'ob_ref=9007199254740993.000')).toEqual([2]);
  expect(idsOf(properties, 'ob_ref!=9007199254740993')).toEqual([0, 1, 3, 4, 5]);
  expect(idsOf(properties, `ob_ref__in=${long + 1n},9007199254740991`)).toEqual([0, 5]);
  expect(idsOf(properties, `ob_ref=${long + 2n}`)).toEqual([]);
});

test.each([11, 12, 13])('members of a list are found in whatever order they are asked for (seed %i)', (seed) => {
  const random = randomOf(seed);
  const values = random.several(200, 400, () => random.pick([random.integer(0, 300), random.integer(0, 100_000)]));
  const bboxes = collectionNamed('bboxes')!;
  const bounds = indexOfDeclared(
    bboxes,
    values.map((value, i) => ({ ob_id: i * 5, eastBoundLongitude: value / 4 })),
  );
  const properties = indexOf(
    'migrationproperties',
    values.map((value, id) => ({
      id,
      ob_ref: value,
      modified: new Date(value * 86_400_000).toISOString().slice(0, 10),
    })),
  );
  for (let round = 0; round < 40; round++) {
    const asked = random.several(1, 90, () => random.pick([...values, 0, 299, 99_999, 400_000]));
    const members = random.pick([asked, asked.toSorted((a, b) => a - b), asked.toSorted((a, b) => b - a)]);
    const expected = values.flatMap((value, i) => (asked.includes(value) ? [i] : []));
    const all = 'limit=1000';
    const days = members.filter((value) => value < 100_000).map((value) => new Date(value * 86_400_000).toISOString());
    const dated = values.flatMap((value, i) => (asked.includes(value) && value < 100_000 ? [i] : []));
    expect(idsOf(properties, `ob_ref__in=${members.join(',')}&${all}`), `round ${round}`).toEqual(expected);
    expect(idsOf(properties, `modified__in=${days.map((day) => day.slice(0, 10)).join(',')}&${all}`)).toEqual(dated);
    expect(idsOf(bounds, `eastBoundLongitude__in=${members.map((value) => value / 4).join(',')}&${all}`)).toEqual(
      expected.map((i) => i * 5),
    );
  }
});

test('dates are compared by instant, and their texts as served', () => {
  const properties = indexOf('migrationproperties', [
    { id: 1, modified: '2016-05-04' },
    { id: 2, modified: '2016-05-04T00:00:00' },
    { id: 3, modified: '2016-05-04T01:00:00+01:00' },
    { id: 4, modified: 'unknown' },
    { id: 5, modified: '9999-12-31T23:59:59.999998' },
    { id: 6, modified: '9999-12-31T23:59:59.999999' },
    { id: 7, modified: null },
  ]);
  expect(idsOf(properties, 'modified=2016-05-04')).toEqual([1, 2, 3]);
  expect(idsOf(properties, 'modified!=2016-05-04T00:00Z')).toEqual([4, 5, 6, 7]);
  expect(idsOf(properties, 'modified=9999-12-31T23:59:59.999999')).toEqual([6]);
  expect(idsOf(properties, 'modified__startswith=2016-05-04T')).toEqual([2, 3]);
  expect(idsOf(properties, 'modified__contains=known')).toEqual([4]);
});

/** Random observations with few distinct values, so that conditions meet. */
function randomObservation(random: Random, id: number): RecordValue {
  const word = (): string =>
    random.pick(['', 'a', 'ab', 'b', 'Å', 'ocean air', '{base_url}/x', '{base_url}', '{', 'http']);
  const links = (to: string): string[] => random.several(0, 4, () => link(to, random.integer(1, 6)));
  const orNull = <T>(value: T): T | null => (random.chance(0.3) ? null : value);
  return {
    ob_id: id,
    title: word(),
    abstract: orNull(word()),
    status: random.pick(['completed', 'ongoing']),
    nonGeographicFlag: orNull(random.chance(0.5)),
    timePeriod: link('times', random.integer(1, 9)),
    procedureComputation: orNull(link('computations', random.integer(1, 4))),
    projects: links('projects'),
    result_field: orNull({
      ob_id: link('observations', id),
      dataPath: word(),
      oldDataPath: random.several(0, 3, word),
      volume: random.pick([0, 1, 10, 11, 9007199254740993n]),
    }),
    permissions: random.several(0, 3, () => ({
      ob_id: link('observations', random.integer(1, 9)),
      label: word(),
      accessCategory: orNull(random.pick(['public', 'registered'])),
    })),
    discoveryKeywords: random.several(0, 3, () => ({ ob_id: random.integer(1, 5), name: word() })),
  };
}

const TEXTS = ['', 'a', 'ab', 'b', 'Å', 'an a', 'http', 'http://localhost:8080', '0/x', '{', '{base_url}', 'completed'];
const NUMBERS = ['0', '1', '2', '3', '4', '10', '9007199254740992', '9007199254740993'];
const TEXT_PATHS = [
  'title',
  'abstract',
  'status',
  'result_field__dataPath',
  'result_field__oldDataPath',
  'permissions__label',
  'permissions__accessCategory',
  'discoveryKeywords__name',
];
const NUMBER_PATHS = [
  'ob_id',
  'result_field',
  'result_field__volume',
  'result_field__ob_id',
  'timePeriod',
  'procedureComputation',
  'projects',
  'permissions',
  'discoveryKeywords',
  'discoveryKeywords__ob_id',
];

function randomCondition(random: Random): NaiveCondition {
  const isNegated = random.chance(0.3);
  const draw = random.unit();
  if (draw < 0.1) {
    return { path: ['nonGeographicFlag'], lookup: 'exact', isNegated, operands: [random.pick(['true', 'false'])] };
  }
  if (draw < 0.2) {
    const lookup = random.pick(['contains', 'startswith'] as const);
    const path = random.pick(['ob_id', 'result_field__volume', 'nonGeographicFlag', 'discoveryKeywords__ob_id']);
    return { path: path.split('__'), lookup, isNegated, operands: [random.pick(['1', '', '0', 'als'])] };
  }
  const isText = draw < 0.6;
  const path = random.pick(isText ? TEXT_PATHS : NUMBER_PATHS).split('__');
  const operand = (): string => random.pick(isText ? TEXTS : NUMBERS);
  const lookup = random.pick(
    isText ? (['exact', 'contains', 'startswith', 'in'] as const) : (['exact', 'in'] as const),
  );
  return { path, lookup, isNegated, operands: lookup === 'in' ? random.several(2, 5, operand) : [operand()] };
}

function queryOf(conditions: readonly NaiveCondition[]): string {
  return conditions
    .map(({ path, lookup, isNegated, operands }) => {
      const key = `${[...path, lookup].join('__')}${isNegated ? '!' : ''}`;
      return `${encodeURIComponent(key)}=${encodeURIComponent(operands.join(','))}`;
    })
    .join('&');
}

/** Keys of which the last would win are left out: a relation is its id. */
function withoutRepeats(conditions: readonly NaiveCondition[]): readonly NaiveCondition[] {
  const keyOf = ({ path, lookup, isNegated }: NaiveCondition): string =>
    `${path.filter((name, i) => i === 0 || name !== 'ob_id').join('__')} ${lookup} ${isNegated}`;
  return conditions.filter((one, i) => !conditions.slice(0, i).some((other) => keyOf(other) === keyOf(one)));
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])('random conditions find what plain loops find (seed %i)', (seed) => {
  const random = randomOf(seed);
  const records = random.shuffled(
    Array.from({ length: random.pick([0, 1, 5, 40, 150]) }, (_, i) => randomObservation(random, i * 3 + 1)),
  );
  const collection = indexOf('observations', records);
  const ordered = [...records].sort((a, b) => Number(a['ob_id']) - Number(b['ob_id']));
  for (let round = 0; round < 250; round++) {
    const conditions = withoutRepeats(random.several(1, 5, () => randomCondition(random)));
    const expected = naiveMatches(collection.declaration, ordered, conditions, FORM.baseUrl).map(
      (record) => record['ob_id'],
    );
    const [offset, limit] = [random.integer(0, 8), random.integer(1, 60)];
    const query = `${queryOf(conditions)}&offset=${offset}&limit=${limit}`;
    const where = `seed ${seed}, query ${query}`;
    expect(hitsOf(collection, query).count, where).toBe(expected.length);
    expect(idsOf(collection, query), where).toEqual(expected.slice(offset, offset + limit));
  }
});

describe('work', () => {
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
    'of %j is the same at every offset',
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

  test('of a scan is skipped where nothing is left, and done on few rows where few are left', () => {
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

  test('ends where it is cancelled', () => {
    let polls = 0;
    expect(hitsIfAny(collection, 'abstract__contains=xx1', { isCancelled: () => ++polls === 2 })).toBeUndefined();
    expect(polls).toBe(2);
  });
});

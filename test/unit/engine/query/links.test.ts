// Filters through links: what they find, how keys are read, how they are planned, and the work that they do.
import { describe, expect, test } from 'vitest';
import { newCounters, type Counters } from '../../../../engine/find/counters.ts';
import { explain } from '../../../../engine/find/explain.ts';
import { indexesOf } from '../../../support/index.ts';
import { askOf, hitsOf, idsOf, planOf } from '../../../support/lists.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;

const CATALOGUE = indexesOf({
  observations: [
    {
      ob_id: 1,
      title: 'one',
      phenomena: [link('phenomona', 1), link('phenomona', 2)],
      result_field: { ob_id: link('observations', 2), dataPath: '/a', volume: 1 },
      permissions: [
        { ob_id: link('observations', 2), label: 'x' },
        { ob_id: link('observations', 3), label: 'y' },
      ],
      procedureAcquisition: link('acquisitions', 4),
    },
    {
      ob_id: 2,
      title: 'two',
      phenomena: [link('phenomona', 3), link('phenomona', 77)],
      result_field: { ob_id: link('observations', 99), dataPath: '/b', volume: 2 },
      procedureAcquisition: link('acquisitions', 5),
    },
    { ob_id: 3, title: 'three', phenomena: [], procedureAcquisition: null },
  ],
  phenomona: [
    { ob_id: 1, names: [{ ob_id: 1, name: 'air' }], terms: [{ ob_id: 1, label: 'units', value: 'K' }] },
    { ob_id: 2, names: [{ ob_id: 2, name: 'sea' }], terms: [{ ob_id: 2, label: 'units', value: 'm' }] },
    { ob_id: 3, names: [{ ob_id: 1, name: 'air' }], terms: [{ ob_id: 3, label: 'units', value: 'm' }] },
  ],
  acquisitions: [
    {
      ob_id: 4,
      instrumentplatformpair_set: [
        { ob_id: 1, platform: link('platforms', 7), relatedTo: { ob_id: 4, uuid: 'u1', short_code: 'acq' } },
        { ob_id: 2, platform: link('platforms', 8), relatedTo: { ob_id: 4, uuid: 'u2', short_code: 'acq' } },
      ],
    },
  ],
});

describe('a filter through links', () => {
  test.each([
    ['phenomena__names__name=air', [1, 2]],
    ['phenomena__names__name!=air', [3]],
    ['phenomena__names__name=air&phenomena__terms__value=K', [1]],
    ['phenomena__names__name=sea&phenomena__terms__value=K', []],
    ['phenomena=1&phenomena__names__name=sea', []],
    ['phenomena=2&phenomena__names__name=sea', [1]],
    ['phenomena__terms__value!=K&phenomena__names__name=air', [2]],
    ['phenomena__ob_id=77', [2]],
    ['phenomena__ob_id!=77', [1, 3]],
    ['phenomena__ob_id__contains=7', [2]],
    ['result_field__title=two', [1]],
    ['result_field__dataPath=/a', [1]],
    ['result_field=99', [2]],
    ['result_field__ob_id__ob_id__in=2,99', [1, 2]],
    ['result_field__result_field__dataPath=/b', [1]],
    ['result_field__phenomena__ob_id=77&result_field__title__startswith=t', [1]],
    ['permissions__title=three', [1]],
    ['permissions__title=three&permissions__label=y', [1]],
    ['permissions__title=three&permissions__label=x', []],
    ['permissions__title=two&permissions__ob_id__phenomena__names__name=air', [1]],
    ['procedureAcquisition__instrumentplatformpair_set__relatedTo__uuid=u2', [1]],
    [
      'procedureAcquisition__instrumentplatformpair_set__relatedTo__uuid=u2&procedureAcquisition__instrumentplatformpair_set__platform=8',
      [1],
    ],
    [
      'procedureAcquisition__instrumentplatformpair_set__relatedTo__uuid=u2&procedureAcquisition__instrumentplatformpair_set__platform=7',
      [],
    ],
    ['procedureAcquisition__instrumentplatformpair_set__relatedTo__uuid!=u2', [2, 3]],
    ['procedureAcquisition=5', [2]],
  ])('%s finds %j', (query, ids) => {
    expect(idsOf(CATALOGUE('observations'), query)).toEqual(ids);
  });
});

describe('a key through links', () => {
  test.each([
    ['phenomena__foo=1', 'phenomena__foo: "foo" lookup is not supported'],
    ['phenomena__names__foo__bar=1', 'phenomena__names__foo__bar: "foo" lookup is not supported'],
    ['phenomena__contains=1', 'phenomena__contains: "contains" lookup is not supported'],
    ['phenomena__ob_id__names=1', 'phenomena__ob_id__names: "names" lookup is not supported'],
    ['phenomena__terms__value__=K', 'phenomena__terms__value__: "" lookup is not supported'],
    ['result_field__ob_id__ob_id=x', 'result_field__ob_id__ob_id: Enter a whole number.'],
    [
      `${'result_field__'.repeat(7)}title=x`,
      `${'result_field__'.repeat(7)}title: At most 6 relations can be stepped over.`,
    ],
    [
      `${'result_field__'.repeat(999)}foo=x`,
      `${'result_field__'.repeat(999)}foo: At most 6 relations can be stepped over.`,
    ],
  ])('%s is a problem', (query, expected) => {
    const { problems } = askOf(CATALOGUE('observations'), query);
    expect(problems.map(({ key, messages }) => `${key}: ${messages.join(' ')}`)).toEqual([expected]);
  });

  test('may step over six relations', () => {
    expect(idsOf(CATALOGUE('observations'), `${'result_field__'.repeat(6)}title=x`)).toEqual([]);
  });

  test('has one list with other keys that mean the same', () => {
    const lists = (query: string): readonly string[] =>
      askOf(CATALOGUE('observations'), query).conditions.map(({ key, operand }) => `${key} ${operand.values.join()}`);
    expect(lists('phenomena__in=1&phenomena__ob_id__in=2')).toEqual(['phenomena__in 1,2']);
    expect(lists('permissions__title__in=1&permissions__ob_id__title__in=2')).toEqual(['permissions__title__in 1,2']);
    expect(lists('result_field__ob_id__ob_id__in=1&result_field__ob_id__in=2&result_field__in=3')).toEqual([
      'result_field__ob_id__ob_id__in 1,2,3',
    ]);
    expect(lists('phenomena__names__in=1&phenomena__names__ob_id__in=2&phenomena__in=3')).toEqual([
      'phenomena__names__in 1,2',
      'phenomena__in 3',
    ]);
  });

  test('is unknown by its first name only', () => {
    const { ignored, problems } = askOf(CATALOGUE('observations'), 'phenomenon__names__name=x&phenomena__nam=x');
    expect(ignored).toEqual(['phenomenon__names__name']);
    expect(problems).toHaveLength(1);
  });
});

/** 3000 observations, of which 100 share each project-like computation. */
const MANY = indexesOf({
  observations: Array.from({ length: 3000 }, (_, i) => ({
    ob_id: i,
    uuid: `u${i}`,
    status: i % 2 === 0 ? 'completed' : 'ongoing',
    procedureComputation: i % 10 === 0 ? null : link('computations', i % 100),
    identifier_set: [link('identifiers', i), link('identifiers', i + 5000)],
  })),
  computations: Array.from({ length: 90 }, (_, i) => ({ ob_id: i, title: `t${i}`, abstract: 'x'.repeat(2000) + i })),
  identifiers: Array.from({ length: 6000 }, (_, i) => ({ ob_id: i, url: `http://x/${i}`, identifierType: 'doi' })),
});

function stepsOf(query: string): readonly string[] {
  return explain(planOf(MANY('observations'), query))
    .trimEnd()
    .split('\n')
    .slice(1);
}

describe('a plan through links', () => {
  test('survives printing and cloning', () => {
    const made = planOf(MANY('observations'), 'identifier_set__url=a&procedureComputation__title__contains!=b');
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
    expect(structuredClone(made)).toEqual(made);
  });

  test.each([
    [
      'procedureComputation__title=t3',
      [
        '  about 30 rows that link by procedureComputation to computations',
        '    procedureComputation__title exact "t3": 1 row',
      ],
    ],
    [
      'uuid=u7&procedureComputation__abstract__contains=xx7',
      [
        '  uuid exact "u7": 1 row',
        '  about 2700 rows that link by procedureComputation to computations',
        '    procedureComputation__abstract contains "xx7": about 90 rows',
      ],
    ],
  ])('%s is explained step by step', (query, lines) => {
    expect(stepsOf(query)).toEqual(lines);
  });
});

describe('the work of a join', () => {
  const workOf = (query: string): Counters => {
    const counters = newCounters();
    hitsOf(MANY('observations'), `${query}&limit=1`, { counters });
    return counters;
  };

  test('is that of the rows found, not of the collections', () => {
    const { rowsTouched, postingsVisited } = workOf('procedureComputation__title=t3');
    expect(rowsTouched + postingsVisited).toBeLessThan(100);
    const single = workOf('identifier_set__url=http://x/1');
    expect(single.rowsTouched + single.postingsVisited).toBeLessThan(20);
  });

  test('is that of the rows left, where these are fewer than the rows found', () => {
    const { rowsTouched, postingsVisited, bytesScanned } = workOf(
      'uuid=u7&procedureComputation__abstract__contains=x&identifier_set__url__contains=7',
    );
    expect(rowsTouched).toBeLessThan(20);
    expect(bytesScanned).toBeLessThan(5000);
    expect(postingsVisited).toBeLessThan(20);
  });
});

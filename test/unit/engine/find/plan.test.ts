// Plans as plain data: grouping, order, estimates, and how a plan reads for people.
import { describe, expect, test } from 'vitest';
import { explain } from '../../../../engine/find/explain.ts';
import type { Plan } from '../../../../engine/find/plan.ts';
import { indexOf } from '../../../support/index.ts';
import { planOf as planIn } from '../../../support/lists.ts';

const COLLECTION = indexOf(
  'observations',
  Array.from({ length: 1200 }, (_, i) => ({
    ob_id: i,
    uuid: `u${String(i).padStart(4, '0')}`,
    title: `${'t'.repeat(80)}${i}`,
    status: i % 2 === 0 ? 'completed' : 'ongoing',
    language: i % 100 === 0 ? 'Welsh' : 'English',
    permissions: [
      { ob_id: `{base_url}/api/v3/observations/${i}/?format=api`, label: `l${i % 3}`, accessCategory: 'public' },
    ],
    result_field: { oldDataPath: ['a', 'b'] },
  })),
);

function planOf(query: string, filterErrors: 'fail' | 'empty' = 'fail'): Plan {
  return planIn(COLLECTION, query, { options: { filterErrors } });
}

/** The lines of a plan's explanation below its head. */
function stepsOf(query: string): readonly string[] {
  return explain(planOf(query)).trimEnd().split('\n').slice(1);
}

test('a plan survives printing and cloning', () => {
  const made = planOf('title__contains=t&permissions__label!=l1&ob_id__in=1,2&result_field__volume=9007199254740993');
  expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  expect(structuredClone(made)).toEqual(made);
});

describe('explain', () => {
  test('shows the page and the steps in their order', () => {
    expect(explain(planOf('status=completed&language=Welsh&limit=7&offset=3'))).toBe(
      [
        'observations: about 12 rows, offset 3, limit 7',
        '  language exact "Welsh": 12 rows',
        '  status exact "completed": 600 rows',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['', ['  all records']],
    ['status=none', ['  status exact "none": 0 rows']],
    ['uuid__startswith=u00', ['  uuid startswith "u00": 100 rows']],
    ['ob_id__in=', ['  ob_id in no value: 0 rows']],
    ['uuid__in=u0001,u0003', ['  uuid in "u0001", "u0003": 2 rows']],
    [
      'permissions__label=l1&permissions__accessCategory=public&status!=ongoing',
      [
        '  about 400 rows with a row of permissions',
        '    permissions__label exact "l1": 400 rows',
        '    permissions__accessCategory exact "public": 1200 rows',
        '  except',
        '    status exact "ongoing": 600 rows',
      ],
    ],
    [
      'result_field__oldDataPath=a&result_field__oldDataPath__in=b,c',
      [
        '  about 1200 rows with a row of result_field__oldDataPath',
        '    result_field__oldDataPath exact "a": 1200 rows',
        '  about 1200 rows with a row of result_field__oldDataPath',
        '    result_field__oldDataPath in "b", "c": 1200 rows',
      ],
    ],
    [
      'title__contains=tt&language=Welsh',
      ['  language exact "Welsh": 12 rows', '  title contains "tt": about 1200 rows'],
    ],
    ['title__contains=tt', ['  title contains "tt": about 1200 rows']],
    ['ob_id__in=1,2,3,4,5,6,7', ['  ob_id in 1, 2, 3, 4, 5, ... 7 values: 7 rows']],
    ['ob_id__lt=01200', ['  ob_id lt 1200: 1200 rows']],
  ])('%s', (query, lines) => {
    expect(stepsOf(query)).toEqual(lines);
  });

  test('says so where a wrong filter makes the list empty', () => {
    const made = planOf('ob_id=x&title__contains=t', 'empty');
    expect(explain(made)).toContain('nothing: a filter is wrong');
  });
});

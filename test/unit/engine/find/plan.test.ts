// Plans as plain data: grouping, order, estimates, what is heavy, and how a plan reads for people.
import { describe, expect, test } from 'vitest';
import type { Dictionary } from '../../../../engine/column/dictionary.ts';
import { type FieldIndex, invertedIndex } from '../../../../engine/index/field.ts';
import { invert } from '../../../../engine/index/invert.ts';
import { COUNTED_CODES_MAX } from '../../../../engine/index/mostRows.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { newCounters } from '../../../../engine/find/counters.ts';
import { rowsOfCodesIn } from '../../../../engine/find/postings.ts';
import { explain } from '../../../../engine/find/explain.ts';
import {
  INLINE_JOIN_STEPS_MAX,
  INLINE_ROWS_GATHERED_MAX,
  INLINE_SCAN_BYTES_MAX,
  INLINE_VALUES_MAX,
  type Plan,
} from '../../../../engine/find/plan.ts';
import { indexOf } from '../../../support/index.ts';
import { hitsOf, planOf as planIn } from '../../../support/lists.ts';

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
  test('shows the page, the cost and the steps in their order', () => {
    expect(explain(planOf('status=completed&language=Welsh&limit=7&offset=3'))).toBe(
      [
        'observations: at most 12 rows, offset 3, limit 7, about 3 us, inline',
        '  language exact "Welsh": posting list, 12 rows',
        '  status exact "completed": posting list, 600 rows',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['', ['  all records']],
    ['status=none', ['  status exact "none": nothing, 0 rows']],
    ['uuid__startswith=u00', ['  uuid startswith "u00": code range, 100 rows']],
    ['ob_id__in=', ['  ob_id in no value: nothing, 0 rows']],
    ['uuid__in=u0001,u0003', ['  uuid in "u0001", "u0003": code list, 2 rows']],
    [
      'permissions__label=l1&permissions__accessCategory=public&status!=ongoing',
      [
        '  one row of permissions: at most 400 rows',
        '    permissions__label exact "l1": posting list, 400 rows',
        '    permissions__accessCategory exact "public": posting list, 1200 rows',
        '  except',
        '    status exact "ongoing": posting list, 600 rows',
      ],
    ],
    [
      'result_field__oldDataPath=a&result_field__oldDataPath__in=b,c',
      [
        '  one row of result_field__oldDataPath: at most 1200 rows',
        '    result_field__oldDataPath exact "a": posting list, 1200 rows',
        '  one row of result_field__oldDataPath: at most 1200 rows',
        '    result_field__oldDataPath in "b", "c": posting list, 1200 rows',
      ],
    ],
    [
      'title__contains=tt&language=Welsh',
      [
        '  language exact "Welsh": posting list, 12 rows',
        '  title contains "tt": row check, 12 rows, at the cost of 1008 bytes of text',
      ],
    ],
    ['title__contains=tt', ['  title contains "tt": scan, 1200 rows, at the cost of 99690 bytes of text']],
    ['ob_id__in=1,2,3,4,5,6,7', ['  ob_id in 1, 2, 3, 4, 5, ... 7 values: code range, 7 rows']],
    ['ob_id__lt=01200', ['  ob_id lt 1200: code range, 1200 rows']],
  ])('%s', (query, lines) => {
    expect(stepsOf(query)).toEqual(lines);
  });

  test('says so where a wrong filter makes the list empty', () => {
    const made = planOf('ob_id=x&title__contains=t', 'empty');
    expect(made.isHeavy).toBe(false);
    expect(explain(made)).toContain('nothing: a filter is wrong');
  });
});

describe('a plan is heavy', () => {
  test('where it scans much text, unless few rows are left to check', () => {
    expect(COLLECTION.members.get('title')).toMatchObject({ kind: 'values' });
    expect(planOf('title__contains=t').node.scanBytes).toBeGreaterThan(INLINE_SCAN_BYTES_MAX);
    expect(planOf('title__contains=t').isHeavy).toBe(true);
    expect(planOf('title__contains!=t').isHeavy).toBe(true);
    expect(planOf('title__contains=t&language=Welsh').isHeavy).toBe(false);
    expect(planOf('status__contains=t').isHeavy).toBe(false);
    expect(planOf('title__startswith=t').isHeavy).toBe(false);
    expect(planOf('title__contains=').isHeavy).toBe(false);
  });

  test('where it has a regular expression, however small the text, or a pass over many instants', () => {
    expect(planOf('status__regex=x').isHeavy).toBe(true);
    expect(planOf('permissions__label__iregex!=x').isHeavy).toBe(true);
    expect(planOf('status__icontains=x').isHeavy).toBe(false);
    expect(planOf('dataPublishedTime__month=5').isHeavy).toBe(false);
    expect(planOf('title__icontains=t').node.scanBytes).toBe(2 * planOf('title__contains=t').node.scanBytes);
  });

  test('where it puts a set together of very many rows, unless few are left to look at', () => {
    const rows = 2 * INLINE_ROWS_GATHERED_MAX + 2;
    const large = numbered(rows);
    const made = (query: string): Plan => planIn(large, query, { options: { limitDefault: 1 } });
    const gatheredIn = (query: string): number =>
      made(query).node.steps.reduce((sum, step) => sum + (step.kind === 'condition' ? step.rowsGathered : 0), 0);
    expect(['ob_ref__lt=1000', `ob_ref__lt=${rows - 100}`, 'ob_ref=7', `ob_ref__lt=${rows}`].map(gatheredIn)).toEqual([
      1000, 100, 0, 0,
    ]);
    expect(gatheredIn('ob_ref=7&ob_ref__lt=1000')).toBe(1);
    const half = rows / 2;
    expect([half - 1, half, half + 1].map((end) => made(`ob_ref__lt=${end}`).isHeavy)).toEqual([false, true, false]);
    expect(made(`ob_ref__lt=${half}&ob_ref=7`).isHeavy).toBe(false);
  });

  test('where it joins sets of very many rows that lie ready, unless few are left to look at', () => {
    const rows = 2 * INLINE_ROWS_GATHERED_MAX + 2;
    const index = numbers(rows, 128);
    const members = new Map([
      ...numbered(rows).members,
      ['value', { kind: 'values', name: 'value', index } as const] as const,
    ]);
    const coarse = { ...numbered(rows), members };
    const values = (count: number): string => Array.from({ length: count }, (_, i) => 2 * i).join();
    const isHeavy = (query: string): boolean => planIn(coarse, query, { options: { limitDefault: 1 } }).isHeavy;
    // 64 of 128 values, each with its own list, are half of the rows.
    expect([1, 32, 63, 64].map((count) => isHeavy(`value__in=${values(count)}`))).toEqual([false, false, false, true]);
    expect(isHeavy(`value__in!=${values(64)}`)).toBe(true);
    expect(isHeavy(`value__in=${values(32)}&value__in!=${values(34)}`)).toBe(true);
    expect(isHeavy(`ob_ref=4&value__in=${values(64)}`)).toBe(false);
    // What a search finds is put together too, were it in little text.
    expect(['value__contains=1', 'value__contains!=1'].map(isHeavy)).toEqual([true, true]);
    expect(['ob_ref=4', 'ob_ref__lt=100'].map((few) => isHeavy(`${few}&value__contains=1`))).toEqual([false, false]);
    const codes = Array.from({ length: 64 }, (_, i) => ({ start: 2 * i, end: 2 * i + 1 }));
    const counters = newCounters();
    const few = { kind: 'list', rows: Uint32Array.of(1, 4) } as const;
    expect(rowsOfCodesIn(counters, index, codes, few)).toEqual({ kind: 'list', rows: Uint32Array.of(4) });
    expect(counters.rowsTouched + counters.postingsVisited).toBeLessThan(10);
  });

  test('where it carries very many rows of a relation to the records that they belong to, unless few are asked', () => {
    const each = 70;
    const records = Math.ceil(INLINE_JOIN_STEPS_MAX / each) + 1;
    const grants = Array.from({ length: each }, (_, i) => ({ ob_id: i, label: i === 0 ? 'first' : 'other' }));
    const crowded = indexOf(
      'observations',
      Array.from({ length: records }, (_, i) => ({ ob_id: i, permissions: grants })),
    );
    const workOf = (query: string): { readonly isHeavy: boolean; readonly joinSteps: number } => {
      const { isHeavy, node, excluded } = planIn(crowded, query);
      const joinSteps = [node, ...excluded].reduce((sum, tree) => sum + tree.joinSteps, 0);
      const counters = newCounters();
      hitsOf(crowded, query, { counters });
      expect(counters.joinSteps, query).toBe(joinSteps);
      return { isHeavy, joinSteps };
    };
    const rows = records * each;
    expect(workOf('permissions__label__gte=a')).toEqual({ isHeavy: true, joinSteps: rows });
    expect(workOf('permissions__label__gte!=a')).toEqual({ isHeavy: true, joinSteps: rows });
    expect(workOf('permissions__label=first')).toEqual({ isHeavy: false, joinSteps: records });
    expect(workOf('permissions__label=first&permissions__label__gte=a').joinSteps).toBe(records);
    expect(workOf('ob_id=3&permissions__label__gte=a')).toEqual({ isHeavy: false, joinSteps: each });
    expect(workOf('permissions__label__isnull=true')).toEqual({ isHeavy: false, joinSteps: records });
  });

  test('where it passes over many sets that lie ready, unless few rows are left by the first', () => {
    const large = numbered(20 * INLINE_ROWS_GATHERED_MAX);
    const keys = ['', '__in', '__range', '__gte', '__lte'].flatMap((lookup) => [`ob_ref${lookup}!`, `ob_ref${lookup}`]);
    const valueOf = (key: string): string => (key.includes('range') ? '7,7' : key.includes('te') ? '-1' : '7');
    const isHeavy = (chosen: readonly string[]): boolean => {
      const query = chosen.map((key) => `${key}=${valueOf(key)}`).join('&');
      return planIn(large, query, { options: { limitDefault: 1 } }).isHeavy;
    };
    const negated = keys.filter((key) => key.endsWith('!'));
    expect([isHeavy(negated.slice(0, 3)), isHeavy(negated)]).toEqual([false, true]);
    expect(isHeavy(keys)).toBe(false);
  });

  test('where it looks up very many values', () => {
    const list = (length: number): string => Array.from({ length }, (_, i) => i).join(',');
    expect(planOf(`ob_id__in=${list(INLINE_VALUES_MAX)}`).isHeavy).toBe(false);
    expect(planOf(`ob_id__in=${list(INLINE_VALUES_MAX + 1)}`).isHeavy).toBe(true);
  });
});

test('of a long column no more codes are counted for a plan than may be, and the next has nearer bounds', () => {
  const left = 10;
  const large = numbered(2 * COUNTED_CODES_MAX + left);
  const listed = Array.from({ length: 70 }, (_, i) => i).join(',');
  const estimateOf = (query: string): number => planIn(large, query, { options: { limitDefault: 1 } }).node.estimate;
  // One value is taken to have all rows that are not counted.
  const first = COUNTED_CODES_MAX + left + 69;
  expect(estimateOf(`ob_ref__in=${listed}&ob_ref__in!=${listed}&ob_ref__in!=${listed},1`)).toBe(first);
  expect(estimateOf(`ob_ref__in=${listed}`)).toBe(left + 69);
  expect(estimateOf(`ob_ref__in=${listed}`)).toBe(70);
});

/** Properties of which only `ob_ref` can be asked: the number of the row. */
function numbered(rows: number): CollectionIndex {
  const members = new Map([['ob_ref', { kind: 'values', name: 'ob_ref', index: numbers(rows, rows) } as const]]);
  return { ...indexOf('migrationproperties', [{ id: 1 }]), rows, members };
}

/** The index of the numbers of rows, which begin anew behind so many. */
function numbers(rows: number, values: number): FieldIndex {
  let bytes = 0;
  const texts = Array.from({ length: values }, (_, i) => String(i));
  const dictionary: Dictionary = {
    type: 'integer',
    size: values,
    fitting: values,
    ends: Uint32Array.from(texts, (text) => (bytes += text.length)),
    text: new Uint8Array(Buffer.from(texts.join(''))),
    numbers: Float64Array.from(texts, Number),
  };
  return invertedIndex(
    dictionary,
    invert(
      Uint32Array.from({ length: rows }, (_, i) => i % values),
      values,
    ),
  );
}

// Related rows that do not exist, alone and together with those that do.
import { describe, expect, test } from 'vitest';
import { indexOf } from '../../../support/index.ts';
import { idsOf } from './found.ts';

describe('rows that do not exist are rows of nulls', () => {
  const phenomena = indexOf('phenomona', [
    { ob_id: 1, names: [{ ob_id: 1, name: 'air' }], terms: [{ ob_id: 1, label: 'units', value: null }] },
    { ob_id: 2, names: [{ ob_id: 2, name: null }], terms: [] },
    { ob_id: 3, names: [], terms: [{ ob_id: 2, label: null, value: 'K' }] },
    {
      ob_id: 4,
      names: [
        { ob_id: 2, name: null },
        { ob_id: 1, name: 'air' },
      ],
      terms: [],
    },
  ]);

  test.each([
    ['names__isnull=true', [3]],
    ['names__isnull=false', [1, 2, 4]],
    ['names__isnull!=true', [1, 2, 4]],
    ['names__name__isnull=true', [2, 3, 4]],
    ['names__name__isnull=false', [1, 4]],
    ['names__name__isnull!=true', [1]],
    ['names__name__isnull!=0', [2, 3]],
    ['names__name__isnull=1&names=2', [2, 4]],
    ['names__name__isnull=1&names__isnull=1', [3]],
    ['terms__label__isnull=true&terms__value__isnull=true', [2, 4]],
    ['terms__label__isnull=true&terms__value=K', [3]],
    ['terms__isnull=true&names__isnull=false', [2, 4]],
    ['terms__value__icontains=', [3]],
  ])('%s are %j', (query, ids) => {
    expect(idsOf(phenomena, query)).toEqual(ids);
  });
});

// The JSON of a record on its page: what is seen and copied is what the API says.
import { expect, test } from 'vitest';
import { browserOf } from '../../../../support/browsed.ts';

const DEEP = {
  ob_id: 1,
  title: 'ends on a bracket [',
  abstract: 'two\nlines, <b>"quoted"</b> & ☃ {',
  empty: { list: [], object: {}, text: '' },
  lists: [[1, 2.5, [-3e-7]], [{ a: null, b: [{ c: true }] }], ['}', ']', '[', '{']],
  last: { ob_id: 2, permissions: [{ ob_id: 3 }, { ob_id: 4 }] },
};
const LONG = { ob_id: 2, numbers: Array.from({ length: 5000 }, (_, i) => i) };
const browsed = browserOf({ observations: [DEEP, LONG, { ob_id: 3 }] });

test.each([1, 2, 3])('the text of the JSON of record %d is that of pretty=1, byte for byte', async (id) => {
  const { page } = await browsed(`/browse/observations/${id}/`);
  const { reply } = await browsed(`/api/v3/observations/${id}/?pretty=1`, 'application/json');
  expect(page.querySelector('.json code')!.textContent).toBe(reply.text);
  expect(reply.text).toMatch(/\n {2}"ob_id"/);
});

test.each(['spec', 'request'] as const)('links of the form "%s" are in it as the API has them', async (links) => {
  const records = [{ ob_id: 1, timePeriod: '{base_url}/api/v3/times/3/?format=api' }];
  const linked = browserOf({ observations: records }, undefined, { links });
  const { page } = await linked('/browse/observations/1/');
  const { reply } = await linked('/api/v3/observations/1/?pretty=1', 'application/json');
  expect(page.querySelector('.json code')!.textContent).toBe(reply.text);
  expect(reply.text).toContain('/times/3/');
});

test('each object and list below the first folds from its own line to its end', async () => {
  const { page } = await browsed('/browse/observations/1/');
  const folds = [...page.querySelectorAll('.json pre details')];
  expect(folds.map((fold) => fold.querySelector('summary')!.textContent.trim())).toEqual([
    '"empty": {',
    '"lists": [',
    '[',
    '[',
    '[',
    '{',
    '"b": [',
    '{',
    '[',
    '"last": {',
    '"permissions": [',
    '{',
    '{',
  ]);
  for (const fold of folds) expect(fold.textContent).toMatch(/^ +.*[[{]\n[^]*\n +[\]}],?\n$/);
});

// The title of a record's page, by which people know its tab and find its bookmark.
import { expect, test } from 'vitest';
import { browserOf } from '../../../support/browsed.ts';

const WORDS = 'dust '.repeat(23);
const RECORDS = [
  { ob_id: 1, title: 'Saharan dust' },
  { ob_id: 2, title: null },
  { ob_id: 3, title: `${WORDS}ocean and land` },
  { ob_id: 4, title: `${WORDS}oceanography` },
  { ob_id: 5, title: `a ${'x'.repeat(200)}` },
  { ob_id: 6, title: `${'x'.repeat(119)}\u{1f30d}` },
];
const browsed = browserOf({ observations: RECORDS });

test.each([
  [1, '1: Saharan dust – Observations'],
  [2, '2 – Observations'],
  [3, `3: ${WORDS}ocean… – Observations`],
  [4, `4: ${WORDS.trim()}… – Observations`],
  [5, `5: a ${'x'.repeat(118)}… – Observations`],
  [6, `6: ${'x'.repeat(119)}… – Observations`],
])('of record %d begins with its id and ends its name with a word', async (id, title) => {
  const { page } = await browsed(`/browse/observations/${id}/`);
  expect(page.querySelector('title')!.textContent).toBe(title);
});

// The page of a record: its title, by which people know its tab and find its bookmark, and values that are none.
import { expect, test } from 'vitest';
import { browserOf } from '../../../support/browsed.ts';
import { collectionOf } from '../../../support/collections.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../../../support/smallCatalogue.ts';

const WORDS = 'dust '.repeat(23);
const RECORDS = [
  { ob_id: 1, title: 'Saharan dust' },
  { ob_id: 2, title: null },
  { ob_id: 3, title: `${WORDS}ocean and land` },
  { ob_id: 4, title: `${WORDS}oceanography` },
  { ob_id: 5, title: `a ${'x'.repeat(200)}` },
  { ob_id: 6, title: `${'x'.repeat(119)}\u{1f30d}` },
  { ob_id: 7, title: 'deep', keywords: Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => 1)) },
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

test('members within members are shown up to a number for the whole page, and are told to be more', async () => {
  const { page } = await browsed('/browse/observations/7/');
  const items = page.querySelectorAll('ul.members li').length;
  expect(items).toBeGreaterThan(2000);
  expect(items).toBeLessThan(4000);
  expect(page.querySelector('main')!.textContent).toContain('and 300 more');
});

test('bytes of a record that are no JSON, as somebody may forge them, are shown as they are', async () => {
  const collection = collectionOf('observations', ['{"ob_id":1,"title":"a title"}'], BASE_URL);
  const [chunk] = collection.records.chunks;
  chunk!.bytes.set(Buffer.from('"a"titl<"'), Buffer.from(chunk!.bytes).indexOf('"a title"'));
  const handler = handlerWith(NEVER_HEAVY, {}, (name) =>
    name === 'observations' ? collection : collectionOf(name, [], BASE_URL),
  );
  for (const url of ['/browse/observations/1/', '/browse/observations/']) {
    const reply = replyOf(await handler(requestOf({ url, headers: { accept: 'text/html' } }), STAYING));
    expect([reply.status, reply.text.includes('titl&lt;')]).toEqual([200, true]);
  }
});

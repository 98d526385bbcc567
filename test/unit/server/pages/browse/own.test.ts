// The input of a list's forms becomes a query of the API, to which the response redirects: conditions, columns.
// filterForm.test.ts tests refused conditions.
import { expect, test } from 'vitest';
import { formHandler } from '../../../../support/formCatalogue.ts';
import { browserOf, headerOf } from '../../../../support/htmlPages.ts';

const { asked } = browserOf(formHandler());
const LIST = '/browse/observations/';

test.each([
  ['browse.field=title&browse.lookup=icontains&browse.value=a+b', '?title__icontains=a%20b'],
  ['browse.field=title&browse.lookup=exact&browse.value=a', '?title=a'],
  ['browse.field=title&browse.lookup=exact&browse.not=1&browse.value=a', '?title%21=a'],
  ['browse.columns=uuid&browse.columns=title', '?fields=uuid%2Ctitle'],
  ...(['lte', 'gt'] as const).map((lookup): [string, string] => [
    `browse.field=dataPublishedTime&browse.lookup=${lookup}&browse.value=2020-01-02`,
    `?dataPublishedTime__${lookup}=2020-01-02T23%3A59%3A59.999999`,
  ]),
  ['browse.field=title&browse.lookup=lte&browse.value=2020-01-02', '?title__lte=2020-01-02'],
  ['browse.field=dataPublishedTime&browse.lookup=exact&browse.value=2020-01-02', '?dataPublishedTime__date=2020-01-02'],
  [
    'browse.field=dataPublishedTime&browse.lookup=exact&browse.not=1&browse.value=2020-01-02T12:00:00',
    '?dataPublishedTime%21=2020-01-02T12%3A00%3A00',
  ],
  [
    'browse.field=dataPublishedTime&browse.lookup=range&browse.value=2020-01-01,2020-01-02',
    '?dataPublishedTime__range=2020-01-01%2C2020-01-02T23%3A59%3A59.999999',
  ],
  ...(
    [
      ['range', '2020-01-01+,+2020-01-02+', '2020-01-01%20%2C%202020-01-02T23%3A59%3A59.999999'],
      ['lte', '+2020-01-02+', '2020-01-02T23%3A59%3A59.999999'],
    ] as const
  ).map(([lookup, value, meant]): [string, string] => [
    `browse.field=dataPublishedTime&browse.lookup=${lookup}&browse.value=${value}`,
    `?dataPublishedTime__${lookup}=${meant}`,
  ]),
  [
    'browse.field=dataPublishedTime&browse.lookup=exact&browse.value=+2020-01-02',
    '?dataPublishedTime__date=%202020-01-02',
  ],
  ['title=line%0D%0Abreak&browse.columns=title', '?title=line%0Abreak&fields=title'],
  ['browse.field=title&browse.lookup=exact&browse.value=line%0D%0Abreak', '?title=line%0Abreak'],
])('redirects %s to the list %s', async (query, location) => {
  const answer = await asked(`${LIST}?${query}`);
  expect([answer.status, headerOf(answer, 'Location')]).toEqual([303, location]);
  expect((await asked(LIST + location)).status).toBe(200);
});

test('filters a field with the name of a parameter by its whole name', async () => {
  const query = 'browse.field=format&browse.lookup=exact&browse.value=png';
  expect(headerOf(await asked(`/browse/imagedetails/?${query}`), 'Location')).toBe('?format__exact=png');
});

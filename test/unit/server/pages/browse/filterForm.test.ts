// The filter form: its input becomes an equivalent filter of the API. If it is refused, the page of the refused list
// shows the error and the form as it was filled in.
import { describe, expect, test } from 'vitest';
import { formHandler } from '../../../../support/formCatalogue.ts';
import { browserOf, headerOf, hrefsOf, type Page, pageOf, textsOf } from '../../../../support/htmlPages.ts';

const { asked, pageAt } = browserOf(formHandler());
const LIST = '/browse/observations/';

/** The URL that a form sends, for a list with a filter and a page, both of which could get lost. */
function sentWith(field: string, lookup: string, value: string, not = ''): string {
  const entry = new URLSearchParams({ 'browse.field': field, 'browse.lookup': lookup, 'browse.value': value });
  return `${LIST}?status=s1&limit=5&offset=10&${entry.toString()}${not}`;
}

/** The content of the form of a page. */
function filledIn(page: Page): Readonly<Record<string, unknown>> {
  const chosen = (name: string): string | null =>
    page.querySelector(`.filter select[name="${name}"] option[selected]`)!.getAttribute('value');
  return {
    field: chosen('browse.field'),
    lookup: chosen('browse.lookup'),
    value: page.querySelector('.filter input[name="browse.value"]')!.getAttribute('value'),
    isNegated: page.querySelector('.filter input[name="browse.not"]')!.hasAttribute('checked'),
  };
}

/** The parameters that the form sends unchanged. */
function keptBy(page: Page): readonly string[] {
  return [...page.querySelectorAll('.filter input[type=hidden]')].map(
    (input) => `${input.getAttribute('name')}=${input.getAttribute('value')}`,
  );
}

describe('a boolean in the filter form', () => {
  test.each([
    ['nonGeographicFlag', 'exact', 'No', '=false'],
    ['nonGeographicFlag', 'exact', '1', '=true'],
    ['nonGeographicFlag', 'exact', ' yes ', '=true'],
    ['nonGeographicFlag', 'in', 'yes,FALSE', '__in=true%2Cfalse'],
    ['nonGeographicFlag', 'isnull', 'no', '__isnull=false'],
    ['nonGeographicFlag', 'icontains', 'no', '__icontains=false'],
    ['nonGeographicFlag', 'icontains', 'al', '__icontains=al'],
    ['dataPublishedTime', 'isnull', '0', '__isnull=false'],
    ['title', 'exact', 'no', '=no'],
  ])('of %s, %s "%s", has its usual meaning', async (field, lookup, value, meant) => {
    const location = `?status=s1&limit=5&offset=10&${field}${meant}`;
    expect(headerOf(await asked(sentWith(field, lookup, value)), 'Location')).toBe(location);
    expect((await asked(LIST + location)).status).toBe(200);
  });
});

test('accepts some thousand ids as one value, and no more parameters than a query may have', async () => {
  const ids = Array.from({ length: 3000 }, (_, i) => 10_000 + i).join();
  const location = headerOf(await asked(sentWith('ob_id', 'in', ids)), 'Location');
  expect(location).toBe(`?status=s1&limit=5&offset=10&ob_id__in=${encodeURIComponent(ids)}`);
  const answer = await asked(`${sentWith('ob_id', 'in', '7')}${'&'.repeat(1024)}`);
  expect([answer.status, headerOf(answer, 'Location')]).toEqual([400, undefined]);
});

describe('the filter form without a filter', () => {
  test.each([
    ['nonGeographicFlag', 'exact', 'maybe', '!: Enter true or false. Leave it out.'],
    ['nonGeographicFlag', 'in', 'yes,', '__in!: Enter true or false. Leave it out.'],
    ['dataPublishedTime', 'isnull', 'nil', '__isnull!: Enter true or false. Leave it out.'],
    ['dataPublishedTime', 'isnull', '', '__isnull!: Enter true or false. Leave it out.'],
    ['title', 'icontains', '', '__icontains!: Enter a value. Leave it out.'],
    ['ob_id', 'exact', '', '!: Enter a value. Leave it out.'],
    ['title', 'exact', ' ', '!: Enter a value. Leave it out.'],
  ])('of %s, %s "%s": keeps all input and reports the error', async (field, lookup, value, said) => {
    const answer = await asked(sentWith(field, lookup, value, '&browse.not=1'));
    expect([answer.status, headerOf(answer, 'Location')]).toEqual([400, undefined]);
    const page = pageOf(answer);
    expect(textsOf(page, '.problems li')).toEqual([field + said]);
    expect(textsOf(page, '#filter-wrong')).toEqual([/Enter .*?\./.exec(said)![0]]);
    expect(filledIn(page)).toEqual({ field, lookup, value: value.trim(), isNegated: true });
    expect(keptBy(page)).toEqual(['status=s1', 'limit=5']);
  });
});

test('leaves a filter of the same key alone if the input makes none', async () => {
  const page = await pageAt(`${LIST}?title=a&limit=5&browse.field=title&browse.lookup=exact&browse.value=`);
  expect(hrefsOf(page, '.problems a')).toEqual(['?title=a&limit=5']);
  expect(keptBy(page)).toEqual(['title=a', 'limit=5']);
});

describe('the page of a refused list', () => {
  test.each([
    ['ob_id=abc', 'ob_id', 'exact', 'abc', 'Enter a whole number.'],
    ['ob_id__in!=1,x', 'ob_id', 'in', '1,x', 'Enter a whole number.'],
    ['dataPublishedTime__lte=2020-13-01T23:59:59.999999', 'dataPublishedTime', 'lte', '2020-13-01', 'Enter a valid'],
    ['title__regex=%22%3E(', 'title', 'regex', '">(', 'Enter a valid regular expression.'],
    ['timePeriod__icontains=a', 'timePeriod', 'icontains', 'a', '"icontains" lookup is not supported'],
    ['nonGeographicFlag=no', 'nonGeographicFlag', 'exact', 'no', 'Enter true or false.'],
  ])('for %s has the form with it, and the rest of the query', async (query, field, lookup, value, said) => {
    const answer = await asked(`${LIST}?status=s1&offset=5&strict=1&${query}&ob_id__gt=y`);
    expect(answer.status).toBe(400);
    const page = pageOf(answer);
    expect(filledIn(page)).toEqual({ field, lookup, value, isNegated: query.includes('!') });
    expect(textsOf(page, '#filter-wrong')[0]).toContain(said);
    const wrong = page.querySelector('.filter [aria-invalid=true]')!;
    expect(wrong.getAttribute('name')).toBe(said.includes('lookup') ? 'browse.lookup' : 'browse.value');
    expect(wrong.getAttribute('aria-describedby')).toBe('filter-wrong');
    expect(keptBy(page)).toEqual(['status=s1', 'strict=1', 'ob_id__gt=y']);
  });

  test.each(['ignore', 'empty'] as const)(
    'allows a correction also if clients get another list: %s',
    async (errors) => {
      const other = browserOf(formHandler({ filterErrors: errors }));
      expect((await other.asked(`${LIST}?ob_id=abc`)).status).toBe(400);
      expect(filledIn(await other.pageAt(`${LIST}?ob_id=abc`))).toMatchObject({ field: 'ob_id', value: 'abc' });
      expect((await other.asked('/api/v3/observations/?ob_id=abc')).status).toBe(200);
    },
  );

  test('for what is not a filter has the form as lists have it, without the refused part', async () => {
    const page = await pageAt(`${LIST}?status=s1&ordering=titel&facets=statsu&strict=1`);
    expect(filledIn(page)).toEqual(filledIn(await pageAt(LIST)));
    expect(page.querySelectorAll('[aria-invalid]').length).toBe(0);
    expect(keptBy(page)).toEqual(['status=s1', 'strict=1']);
  });

  test('has no form if the rest of the query is too long to be repeated', async () => {
    const long = 'x'.repeat(2000);
    for (const query of [`title=${long}&ob_id=a`, `${'x&'.repeat(2000)}ob_id=a`]) {
      expect((await pageAt(`${LIST}?${query}`)).querySelectorAll('.filter').length).toBe(0);
    }
    expect(filledIn(await pageAt(`${LIST}?ob_id=${long}`))).toMatchObject({ field: 'ob_id', value: long });
  });
});

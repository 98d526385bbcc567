// Habits of clients of similar services: the response names the form that works here, and that form does work.
import { expect, test } from 'vitest';
import { LOOKUP_HABITS, PARAMETER_HABITS } from '../../engine/query/habits.ts';
import { LOOKUPS } from '../../engine/query/lookups.ts';
import { collectionOf } from '../support/records.ts';
import { requestOf, STAYING } from '../support/requests.ts';
import { browseRecords, textsOf } from '../support/htmlPages.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../support/smallCatalogue.ts';

const RECORD = {
  ob_id: 1,
  uuid: 'u1',
  title: 'sea ice',
  status: 'final',
  keywords: 'null',
  dataPublishedTime: '2020-01-02T03:04:05',
  result_field: { ob_id: 7, volume: 5, dataPath: '/a' },
};
const OBSERVATIONS = collectionOf('observations', [JSON.stringify(RECORD)], BASE_URL);
const handler = handlerWith(NEVER_HEAVY, {}, (name) =>
  name === 'observations' ? OBSERVATIONS : collectionOf(name, [], BASE_URL),
);

/** The messages for one parameter; undefined if it is accepted. */
async function messagesOf(query: string, isStrict = true): Promise<readonly string[] | undefined> {
  const url = `/api/v3/observations/?${query}${isStrict ? '&strict=1' : ''}`;
  const { status, text } = replyOf(await handler(requestOf({ url }), STAYING));
  if (status === 200) return undefined;
  expect(status, query).toBe(400);
  return Object.values(JSON.parse(text) as Record<string, readonly string[]>).flat();
}

const LIST = expect.stringMatching(/^Lookups that fit: exact, in, .*\.$/);

test.each([
  ['title_icontains=ice', ['Unknown parameter. Did you mean "title__icontains"?']],
  ['title.icontains=ice', ['Unknown parameter. Did you mean "title__icontains"?']],
  ['title[icontains]=ice', ['Unknown parameter. Did you mean "title__icontains"?']],
  ['ob_id__in[]=1', ['Unknown parameter. Did you mean "ob_id__in"?']],
  ['status[]=final', ['Unknown parameter. Did you mean "status"?']],
  ['status[ne]=final', ['Unknown parameter. Did you mean "status!"?']],
  ['volume__gt=1', ['Unknown parameter. Did you mean "result_field__volume__gt"?']],
  ['volume=1', ['Unknown parameter. Did you mean "result_field__volume"?']],
  ['uuid_after=a', ['Unknown parameter. Did you mean "uuid__gte"?']],
  ['startTime__gte=2020-01-01', ['Unknown parameter. Did you mean "timePeriod__startTime__gte"?']],
  ['startTime_before=2020-01-01', ['Unknown parameter. Did you mean "timePeriod__startTime__lte"?']],
  ['pageSize=5', ['Unknown parameter.', 'Write it as "limit=100&offset=200".']],
  ['page-size=5', ['Unknown parameter.', 'Write it as "limit=100&offset=200".']],
  ['sort[]=title', ['Unknown parameter.', 'Write it as "ordering=-<field>".']],
  ['orderBy=title', ['Unknown parameter.', 'Write it as "ordering=-<field>".']],
  ['sort=title', ['Unknown parameter.', 'Write it as "ordering=-<field>".']],
  ['order_by=title', ['Unknown parameter.', 'Write it as "ordering=-<field>".']],
  ['$top=5', ['Unknown parameter.', 'Write it as "limit=100".']],
  ['title__like=x', ['"like" lookup is not supported', 'Did you mean "title__contains"?', LIST]],
  ['status__ne=x', ['"ne" lookup is not supported', 'Did you mean "status!"?', LIST]],
  ['status__ne!=x', ['"ne" lookup is not supported', 'Did you mean "status"?', LIST]],
  ['title__isnotnull=true', ['"isnotnull" lookup is not supported', 'Did you mean "title__isnull!"?', LIST]],
  ['title__zzzzzz=x', ['"zzzzzz" lookup is not supported', LIST]],
  ['dataPublishedTime=null', ['Enter a valid date/time.', 'Write it as "dataPublishedTime__isnull=true".']],
  ['status=null', ['No record has this text.', 'Write it as "status__isnull=true".']],
  ['title!=None', ['No record has this text.', 'Write it as "title__isnull=false".']],
  ['status=eq.final', ['No record has this text.', 'Write it as "status=final".']],
  ['ob_id!=null', ['Enter a whole number.', 'Write it as "ob_id__isnull=false".']],
  ['ob_id=gt.5', ['Enter a whole number.', 'Write it as "ob_id__gt=5".']],
  ['ob_id=gt.x', ['Enter a whole number.']],
  ['ob_id=eq.5', ['Enter a whole number.', 'Write it as "ob_id=5".']],
  ['ob_id=neq.5', ['Enter a whole number.', 'Write it as "ob_id!=5".']],
  ['ob_id!=neq.5', ['Enter a whole number.', 'Write it as "ob_id=5".']],
  ['ob_id=not.gt.5', ['Enter a whole number.', 'Write it as "ob_id__gt!=5".']],
  ['ob_id=in.(1,2)', ['Enter a whole number.', 'Write it as "ob_id__in=1,2".']],
  ['ob_id__exact=is.null', ['Enter a whole number.', 'Write it as "ob_id__isnull=true".']],
  ['ob_id=not.is.null', ['Enter a whole number.', 'Write it as "ob_id__isnull=false".']],
  ['ob_id__in=1,x,3', ['Enter a whole number.', 'Member 2 is "x".']],
  ['title__regex=ab(c', ['Enter a valid regular expression.', 'At character 1, "ab(c": missing closing ).']],
  [
    'title__regex=ab**',
    ['Enter a valid regular expression.', 'At character 3, "**": invalid nested repetition operator.'],
  ],
])('%s gets a working form, or says what is wrong', async (query, messages) => {
  expect(await messagesOf(query)).toEqual(messages);
  const [, form = ''] = /Write it as "(ob_id.*)"\.$/.exec(messages[1] ?? '') ?? [];
  if (form !== '') expect(await messagesOf(form)).toBeUndefined();
});

test.each(['keywords=null', 'title=sea', 'status__contains=null'])('%s can be meant', async (query) => {
  expect(await messagesOf(query)).toBeUndefined();
});

test('an unknown lookup gets the list of lookups without strict mode too', async () => {
  expect(await messagesOf('title__zzzzzz=x', false)).toEqual(['"zzzzzz" lookup is not supported', LIST]);
});

test('every parameter of the table is unknown here and gets its form', async () => {
  for (const { names, form } of PARAMETER_HABITS) {
    for (const name of names) {
      const query = `${encodeURIComponent(name)}=x`;
      expect([name, await messagesOf(query)]).toEqual([name, ['Unknown parameter.', `Write it as "${form}".`]]);
    }
    // Only links can be expanded.
    const field = form.startsWith('expand=') ? 'projects' : 'title';
    const working = form.replace('<lookup>', 'exact').replaceAll('<field>', field).replace('<value>', 'x');
    if (!form.includes('2020')) expect([form, await messagesOf(working)]).toEqual([form, undefined]);
  }
});

test('every lookup of the table is unknown here and gets its form, which works', async () => {
  const known = LOOKUPS.map(({ name }) => name);
  for (const { names, lookup, isNegated } of LOOKUP_HABITS) {
    expect(known).toContain(lookup);
    for (const name of names) {
      expect(known).not.toContain(name);
      const [, meant = ''] = (await messagesOf(`title__${name}=x`)) ?? [];
      const form = `title${lookup === 'exact' ? '' : `__${lookup}`}${isNegated ? '!' : ''}`;
      expect([name, meant]).toEqual([name, `Did you mean "${form}"?`]);
      expect(await messagesOf(`${form}=${lookup === 'isnull' ? 'true' : 'a,b'}`)).toBeUndefined();
    }
  }
});

test('the page of a list says of each name without effect what works', async () => {
  const browse = browseRecords({ observations: [RECORD] });
  const { page } = await browse('/browse/observations/?sort=title&title_icontains=ice');
  expect(textsOf(page, '.note li')).toEqual([
    'sort: Write it as "ordering=-<field>".',
    'title_icontains: Unknown parameter. Did you mean "title__icontains"?',
  ]);
});

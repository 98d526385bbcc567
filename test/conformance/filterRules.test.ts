// Assumptions about filters that the specification does not cover: keys, lookups, dates and values. Over a real socket,
// on handmade records; the matching ids are written out.
import { describe, expect } from 'vitest';
import { askedOf, unsupported } from './asked.ts';
import { edgeRecords } from './edgeRecords.ts';
import { assumption } from './quotes.ts';
import { servedSample } from './sample.ts';

const catalogue = servedSample([], edgeRecords());

const { idsOf, expectIds, expectRefused } = askedOf(catalogue);

describe('keys', () => {
  assumption('A30', 'treats a key that does not match the grammar as an unknown parameter', async () => {
    const names = ['1title', 'ti-tle', 'title!!', '__title', 'Title', 'title ', 'title__a-b'];
    for (const name of names) {
      const { status, headers } = await catalogue.get(`/api/v3/observations/?${encodeURIComponent(name)}=x`);
      const encoded = encodeURIComponent(name).replaceAll('!', '%21');
      expect([status, headers['x-ignored-params']], name).toEqual([200, encoded]);
    }
    await expectIds({ 'title%5F%5Fstartswith=a': [4], 'title__startswith%21=a': [1, 2, 3, 5, 6, 7] });
  });

  assumption('A30', 'prefers a parameter to a field of the same name, which a lookup reaches', async () => {
    await expectIds(
      {
        'search=ice': [2],
        'search__exact=ice': [1],
        'search!=ice': [2],
        'limit__gt=1': [1],
        'limit__exact=1&fields__contains=t': [2],
        'ordering=-search': [2, 1],
      },
      'notes',
    );
    const { results } = await catalogue.page('/api/v3/notes/?limit=1&fields=ob_id');
    expect(results).toEqual([{ ob_id: 1 }]);
  });

  assumption('A30', 'quotes the first name that does not fit', async () => {
    await expectRefused({
      'title__foo=x': unsupported('foo'),
      'title__contains__bar=x': unsupported('bar'),
      'result_field__foo__contains=x': 'Unknown field "foo".',
      'projects__title__foo=x': unsupported('foo'),
      'dataPublishedTime__year__gt=1': unsupported('gt'),
      'title__=x': unsupported(''),
    });
  });

  assumption('A38', 'treats results_field and discoveryKeyword as unknown parameters', async () => {
    const { headers } = await catalogue.get('/api/v3/observations/?results_field=1&discoveryKeyword__name=ice');
    expect(headers['x-ignored-params']).toBe('results_field, discoveryKeyword__name');
  });
});

describe('lookups', () => {
  assumption('A33', 'has 18 lookups of texts, order and nulls, exact by default', async () => {
    await expectIds({
      'status=planned': [5, 6, 7],
      'status__exact=planned': [5, 6, 7],
      'status__iexact=PLANNED': [5, 6, 7],
      'status__contains=go': [3, 4],
      'status__icontains=GO': [3, 4],
      'status__startswith=o': [3, 4],
      'status__istartswith=O': [3, 4],
      'status__endswith=ed': [1, 2, 5, 6, 7],
      'status__iendswith=ED': [1, 2, 5, 6, 7],
      'status__in=ongoing,planned': [3, 4, 5, 6, 7],
      'status__gt=ongoing': [5, 6, 7],
      'status__gte=ongoing': [3, 4, 5, 6, 7],
      'status__lt=ongoing': [1, 2],
      'status__lte=ongoing': [1, 2, 3, 4],
      'status__range=d,p': [3, 4],
      'removedDataTime__isnull=false': [2],
      'status__regex=^.n': [3, 4],
      'status__iregex=^.N': [3, 4],
    });
  });

  assumption('A56', 'filters by the parts of dates and times', async () => {
    await expectIds({
      'dataPublishedTime__date=2015-01-02': [2, 3],
      'dataPublishedTime__year=2016': [4],
      'dataPublishedTime__month=2': [4],
      'dataPublishedTime__day=29': [4],
      'dataPublishedTime__week_day=6': [2, 3, 6],
      'dataPublishedTime__hour=3': [2, 3],
      'dataPublishedTime__minute=59': [1],
      'dataPublishedTime__second=59': [1],
    });
  });

  assumption('A55', 'distinguishes case in contains, startswith, endswith and regex', async () => {
    await expectIds({
      'title__contains=STRASSE': [5],
      'title__contains=strasse': [],
      'title__startswith=S': [5],
      'title__startswith=s': [],
      'title__endswith=Y': [],
      'title__regex=X': [],
    });
  });

  assumption('A55', 'folds Unicode case in the lookups with i', async () => {
    const [lower, kelvin, sharp] = ['ångström', '\u212bngström', 'STRAẞE'].map(encodeURIComponent);
    await expectIds({
      [`title__iexact=${lower}`]: [1, 2],
      [`title__icontains=${kelvin}`]: [1, 2],
      [`title__iregex=^${lower}`]: [1, 2],
      [`title__icontains=${sharp}`]: [5],
      'title__icontains=strasse': [5],
      'title__iexact=strasse': [],
    });
  });

  assumption('A57', 'orders texts by code point', async () => {
    await expectIds({ 'title__gt=%EF%BF%BF': [7], 'title__lt=S': [3], 'title__lte=a': [3, 5] });
    expect((await idsOf('ordering=title')).slice(-2)).toEqual([6, 7]);
  });

  assumption('A58', 'runs regular expressions of RE2 in the pool, and refuses an invalid one', async () => {
    await expectIds({
      'title__regex=%5Cp%7BLu%7D{3}': [5],
      'title__regex!=.': [3],
      'title__regex=(a|a)*$': [1, 2, 3, 4, 5, 6, 7],
    });
    const invalid = 'Enter a valid regular expression.';
    await expectRefused({
      'title__regex=(': invalid,
      'title__regex=(?=a)': [invalid, 'Look-around and back-references are not supported.'],
      'title__iregex=(a)%5C1': [invalid, 'Look-around and back-references are not supported.'],
    });
    await expectRefused({ 'title__regex=(a{1000}){1000}': 'This regular expression is too large.' });
    const { headers } = await catalogue.get('/api/v3/observations/?title__regex=once%20only');
    expect(headers['server-timing']).toMatch(/^pool;dur=/);
  });

  assumption('A35', 'searches the JSON text of integers and booleans', async () => {
    await expectIds({
      'ob_id__contains=1': [1],
      'result_field__volume__startswith=7': [3, 4, 5],
      'result_field__volume__regex=^70*$': [3, 4, 5],
      'nonGeographicFlag__contains=als': [1, 3, 5],
      'nonGeographicFlag__istartswith=T': [2, 4],
    });
  });

  assumption(
    'A35, A56, A57',
    'refuses date parts of other types, order of booleans, and text lookups of a relation',
    async () => {
      await expectRefused({
        'title__year=2015': unsupported('year'),
        'ob_id__month=1': unsupported('month'),
        'nonGeographicFlag__gt=0': unsupported('gt'),
        'nonGeographicFlag__lt=0': unsupported('lt'),
        'nonGeographicFlag__range=0,1': unsupported('range'),
        'projects__contains=1': unsupported('contains'),
        'discoveryKeywords__regex!=1': unsupported('regex'),
        'result_field__ob_id__startswith=1': unsupported('startswith'),
      });
    },
  );

  assumption('A59', 'finds records without a related row by isnull on the relation', async () => {
    await expectIds({
      'projects__isnull=true': [3, 6, 7],
      'projects__isnull!=true': [1, 2, 4, 5],
      'timePeriod__isnull=1': [5, 6, 7],
      'discoveryKeywords__isnull=false': [1, 3],
      'phenomena__names__isnull=true': [1, 2, 6, 7],
    });
  });
});

describe('dates', () => {
  assumption('A34, A56', 'reads dates with and without time and zone, and compares them by instant', async () => {
    await expectIds({
      'dataPublishedTime=2015-01-02T03:04:05': [2, 3],
      'dataPublishedTime=2015-01-02%2004:04:05.000000%2B01:00': [2, 3],
      'dataPublishedTime=2015-01-01T22:04:05-05:00': [2, 3],
      'dataPublishedTime__range=2016-02-29,2016-02-29T00:00Z': [4],
      'dataPublishedTime__lt=1970-01-01': [1, 7],
      'dataPublishedTime__gte=1969-12-31T23:59:59.500000': [1, 2, 3, 4, 6],
      'dataPublishedTime__contains=2016-': [4, 5],
      'dataPublishedTime__endswith=Z': [3],
      'dataPublishedTime__week_day=2': [4, 7],
      'creationDate__date=2016-01-01': [2],
    });
    const wrong = 'Enter a valid date/time.';
    const written = 'Write a date as 2020-01-31, a time as 2020-01-31T12:30:00Z.';
    await expectRefused({
      'dataPublishedTime=2015-01-02T04:04:05+01:00': [wrong, 'A plus in a URL is a blank: write it as %2B.'],
      'dataPublishedTime=2016-12-31T23:59:60': [wrong, written],
      'dataPublishedTime=2015-02-29': [wrong, written],
      'dataPublishedTime=2015-01-02T03': [wrong, written],
      'dataPublishedTime=yesterday': wrong,
      'dataPublishedTime=': 'This field is required.',
      'dataPublishedTime__date=2015-01-02T00:00': ['Enter a valid date.', 'Write a date as 2020-01-31.'],
      'dataPublishedTime__month=x': 'Enter a whole number.',
    });
  });

  assumption('A56', 'finds nothing for a date part out of range', async () => {
    await expectIds({
      'dataPublishedTime__month=13': [],
      'dataPublishedTime__second=60': [],
      'dataPublishedTime__week_day=0': [],
      'dataPublishedTime__hour=-1': [],
      'dataPublishedTime__month!=13': [1, 2, 3, 4, 5, 6, 7],
    });
  });
});

describe('values', () => {
  assumption('A39', 'decodes values as forms do: + is a blank, invalid UTF-8 becomes U+FFFD', async () => {
    await expectIds({ 'title__contains=STRASSE+Stra': [5], 'title__contains=x%2By': [5], 'title__contains=x+y': [] });
    await expectIds({ 'title__contains=%FF': [], 'title__contains=%zz': [], 'title=%EF%BF%BF': [6] });
  });

  assumption('A39', 'trims texts and the members of in', async () => {
    await expectIds({
      'status=+ongoing+': [3, 4],
      'status__in=+ongoing+,%20x': [3, 4],
      'status__contains=+go%09': [3, 4],
    });
  });

  assumption(
    'A40',
    'takes integers with blanks, +, leading zeros and a fraction of zeros, and refuses others',
    async () => {
      await expectIds({
        'ob_id=+%2B05.00+': [5],
        'ob_id__in=005,%201': [1, 5],
        'result_field__volume__gte=70.0': [4, 5],
      });
      const message = 'Enter a whole number.';
      await expectRefused({
        'ob_id=1.5': message,
        'ob_id=1e3': message,
        'ob_id__gt=abc': message,
        'ob_id__in=1,x': message,
        'timePeriod=http://a.example.org/api/v3/times/5/?format=api': [
          message,
          'Write the id of the record, the number at the end of its link.',
        ],
      });
      await expectRefused({ 'ob_id=': 'This field is required.', 'ob_id__in=1,,2': 'This field is required.' });
    },
  );

  assumption('A42', 'splits the value of in at commas after decoding', async () => {
    await expectIds({
      'title__in=a%2Cb': [],
      'title__in=': [],
      'title__in=,': [3],
      'title__in!=': [1, 2, 3, 4, 5, 6, 7],
    });
  });

  assumption('A103', 'takes thousands of ids in one list, in links too', async () => {
    const ids = Array.from({ length: 3400 }, (_, i) => 1000 + i);
    const target = `/api/v3/observations/?limit=1&ob_id__in=${ids.join(',')},7,3,5`;
    expect(target.length).toBeGreaterThan(17_000);
    const found: unknown[] = [];
    for (let next: string | null = target; next !== null;) {
      const page = await catalogue.page(next);
      expect(page.count).toBe(3);
      found.push(...page.results.map(({ ob_id }) => ob_id));
      next = page.next && page.next.slice(page.next.indexOf('/api/'));
    }
    expect(found).toEqual([3, 5, 7]);
  });

  assumption('A57', 'takes exactly two values in range', async () => {
    await expectRefused({
      'ob_id__range=1': 'Ensure this value has at least 2 items (it has 1).',
      'ob_id__range=1,2,3': 'Ensure this value has at most 2 items (it has 3).',
      'ob_id__range=x,1': 'Enter a whole number.',
    });
    await expectIds({ 'ob_id__range=2,4': [2, 3, 4], 'ob_id__range=4,2': [], 'title__range=,a': [3, 5] });
  });

  assumption('A39', 'compares an empty value with the empty text', async () => {
    await expectIds({
      'title=': [3],
      'title!=': [1, 2, 4, 5, 6, 7],
      'title__gt=': [1, 2, 4, 5, 6, 7],
      'title__iexact=': [3],
    });
    await expectIds({ 'title__contains=': [1, 2, 3, 4, 5, 6, 7], 'removedDataTime__contains=': [2] });
  });

  assumption('A43, A58', 'refuses NUL in a value, and an empty or invalid regular expression', async () => {
    const nul = 'Null characters are not allowed.';
    await expectRefused({ 'title=%00': nul, 'title__in=a,%00': nul, 'ob_id=%00': nul, 'title__regex=a%00': nul });
    await expectRefused({
      'title__regex=': 'This field is required.',
      'title__regex=[': 'Enter a valid regular expression.',
    });
  });
});

describe('own URLs', () => {
  assumption('A23', 'are compared as they are served, by a part of the base URL too', async () => {
    const base = String((await catalogue.record('/'))['v3']).replace(/\/api\/v3\/$/, '');
    const [start, end] = [base.slice(0, -2), base.slice(-4)];
    await expectIds(
      {
        [`title=${base}`]: [2],
        [`title=${base}/api/v3/times/7/`]: [1],
        [`title__in=${base},{base_ur`]: [2, 5],
        'title={base_url}': [],
        'title__startswith=': [1, 2, 3, 4, 5],
        'title__startswith={': [5],
        'title__startswith={base_url}': [],
        'title__startswith=http://': [1, 2, 4],
        [`title__startswith=${start}`]: [1, 2],
        [`title__startswith=${base}/api`]: [1],
        [`title__contains=${end}`]: [1, 2],
        [`title__contains=${end}/api`]: [1],
        [`title__contains!=${end}`]: [3, 4, 5],
        'title__contains=base_ur': [3, 5],
      },
      'computations',
    );
  });
});

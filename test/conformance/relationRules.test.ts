// Assumptions about filters over relations, in open collections and on undeclared fields, which the specification does
// not cover. Over a real socket, on handmade records; the matching ids are written out.
import { describe, expect } from 'vitest';
import { askedOf } from './asked.ts';
import { edgeRecords } from './edgeRecords.ts';
import { assumption } from './quotes.ts';
import { servedSample } from './sample.ts';

const catalogue = servedSample([], edgeRecords());
const { expectIds, expectRefused } = askedOf(catalogue);

describe('relations', () => {
  assumption('A60', 'steps through links and embedded records', async () => {
    await expectIds({
      'projects__uuid=p2': [2, 5],
      'timePeriod__startTime__gte=2015-01-01': [1, 3, 4],
      'phenomena__names__name__contains=ai': [3, 5],
      'result_field__result_field__volume=5': [1, 3],
      'permissions__title__startswith=%C3%A5': [2, 3],
    });
    await expectIds({ 'relatedTo__uuid=u6': [2], 'party__firstName=Ada': [1] }, 'rpis');
  });

  assumption('A48', 'steps over at most 6 relations', async () => {
    await expectIds({ [`${'result_field__'.repeat(6)}title=a%2Cb`]: [4] });
    await expectRefused({ [`${'result_field__'.repeat(7)}title=x`]: 'At most 6 relations can be stepped over.' });
  });

  assumption('A45', 'joins conditions with AND, those on one to-many relation for the same related row', async () => {
    await expectIds({
      'permissions__label=l0&permissions__licenceURL=http://b': [3],
      'phenomena__terms__label=units&phenomena__terms__value=K': [3, 5],
      'phenomena__terms__value=m&phenomena__names__name=air': [],
      'phenomena=1&phenomena__names__name=sea': [],
      'projects=1&projects__title=two': [],
    });
  });

  assumption('A46', 'drops records with any matching related row for each negated key alone', async () => {
    await expectIds({
      'permissions__label=l0&permissions__licenceURL!=http://b': [],
      'permissions__label=l0&permissions__label__in!=l1': [3],
      'projects__title!=one&projects__title=two': [2],
      'phenomena__terms__value!=K': [1, 2, 6, 7],
      'projects!=9': [2, 3, 4, 5, 6, 7],
    });
  });

  assumption('A47', 'wants all repeated conditions to hold, and joins lists of ids of one relation', async () => {
    await expectIds({
      'title=x&title__exact=a%2Cb': [],
      'projects=1&projects=2': [],
      'projects__in=9&projects__ob_id__in=2': [1, 2, 5],
      'projects__title__contains=o&projects__title__contains=t': [2, 5],
      'projects!=2&projects!=9': [3, 4, 6, 7],
      'projects__in!=2&projects__in!=9': [3, 4, 6, 7],
    });
  });

  assumption('A45', 'lists and counts no record twice', async () => {
    await expectIds({ 'projects__title__contains=o': [1, 2, 4, 5], 'discoveryKeywords__name__in=ocean,ice': [1, 3] });
    await expectIds({ 'result_field__oldDataPath__startswith=/old': [1, 3], 'ob_id__in=4,4,04': [4] });
  });

  assumption(
    'A59, A60',
    'takes a missing related row for a row of nulls, and keeps the id of a dangling link',
    async () => {
      await expectIds({
        'discoveryKeywords__name__isnull=true': [2, 4, 5, 6, 7],
        'projects__uuid__isnull=true': [1, 3, 6, 7],
        'projects__uuid__isnull!=true': [2, 4, 5],
        'projects=9': [1],
        'projects__ob_id=9&projects__title__isnull=true': [1],
        'projects__ob_id=1&projects__title__isnull=true': [],
      });
    },
  );
});

describe('generic links', () => {
  assumption('A172', 'lead to the collection that another field decides', async () => {
    const embedded = {
      'relatedTo__status=ongoing': [1],
      'relatedTo__budget=2.5': [2],
      'relatedTo=2&relatedTo__budget__isnull=false': [2],
      'relatedTo__ob_id__budget=2.5': [2],
    };
    await expectIds(embedded, 'identifiers');
    await expectIds({ 'relatedTo__status=ongoing': [1], 'relatedTo__status!=ongoing': [2] }, 'onlineresources');
    const idsOf = async (query: string): Promise<unknown[]> => {
      const { results } = await catalogue.page(`/api/v3/migrationproperties/?strict=1&${query}`);
      return results.map(({ id }) => id);
    };
    expect(await idsOf('ob_ref__title=two')).toEqual([2]);
    expect(await idsOf('ob_ref__title__startswith=STR')).toEqual([3]);
    expect(await idsOf('ob_ref__status__in=ongoing,planned')).toEqual([1, 3]);
    expect(await idsOf('ob_ref__ob_id=5')).toEqual([3]);
    expect(await idsOf('ob_ref=5')).toEqual([3, 4]);
  });

  assumption('A173', 'lead filters on in all their collections, and to null in the others', async () => {
    await expectIds(
      {
        'relatedTo__title=a%2Cb': [1],
        'relatedTo__title=two': [2],
        'relatedTo__title__isnull=false': [1, 2, 3],
        'relatedTo__title__isnull=true': [4, 5],
        'relatedTo__title!=two': [1, 3, 4, 5],
        'relatedTo__short_code=ob&relatedTo__title__isnull=false': [1, 3],
        // Only projects have a budget.
        'relatedTo__budget__isnull=true': [1, 3, 4, 5],
        'relatedTo__budget__isnull=true&relatedTo__title__isnull=false': [1, 3],
        'relatedTo__budget=2.5&relatedTo__status=ongoing': [],
        'relatedTo__projects__title=one': [1],
        'relatedTo__timePeriod__startTime__year=2015': [1],
        'relatedTo__ob_id=2': [2, 3, 5],
        'relatedTo__uuid=u2': [3, 5],
      },
      'identifiers',
    );
    await expectRefused(
      {
        'relatedTo__foo=1': 'Unknown field "foo".',
        'relatedTo__title__foo=1': '"foo" lookup is not supported',
        'relatedTo__identifier_set__relatedTo__status=x': 'Unknown field "status".',
      },
      'identifiers',
    );
    const { headers } = await catalogue.get('/api/v3/identifiers/?ordering=relatedTo__title');
    expect(headers['x-ignored-params']).toBe('ordering=relatedTo__title');
  });
});

describe('facets', () => {
  assumption('A67', 'counts records without a related row as null, and each record once for a value', async () => {
    const { body } = await catalogue.get('/api/v3/observations/?limit=1&facets=projects,discoveryKeywords__name');
    expect(body.slice(body.indexOf('"facets":'))).toBe(
      '"facets":{"projects":{"1":3,"null":3,"2":2,"9":1},"discoveryKeywords__name":{"null":5,"ice":2,"ocean":1}}}',
    );
  });
});

describe('open collections and undeclared fields', () => {
  assumption(
    'A5',
    'knows the names that public documents show for open collections, and refuses other sub-fields',
    async () => {
      await expectRefused(
        { 'relatedTo__foo=1': 'Unknown field "foo".', 'party__foo=1': 'Unknown field "foo".' },
        'rpis',
      );
      await expectIds({ 'relatedTo__short_code__isnull=true': [1, 2], 'relatedTo__short_code=ob': [] }, 'rpis');
      await expectIds({ 'curationCategory__isnull=true': [1, 2, 3], 'uuid=x': [] }, 'results');
    },
  );

  assumption('A54', 'filters open collections by the members of embedded records', () =>
    expectIds({ 'relatedTo__uuid=u5': [1], 'relatedTo__uuid!=u5': [2], 'relatedTo=6': [2] }, 'rpis'),
  );

  assumption('A37', 'matches an array of scalars when any element does', async () => {
    await expectIds({ 'list=2': [1], 'list__gt=1': [1, 3], 'list!=1': [2, 3], 'list__isnull=true': [2] }, 'results');
    await expectIds({ 'result_field__oldDataPath=/old/b&result_field__oldDataPath__endswith=a': [1] });
  });

  assumption('A6', 'filters by extra keys of a declared collection', () =>
    expectIds({
      'creationDate__year=2016': [2],
      'creationDate__isnull=true': [3, 4, 5, 6, 7],
      'creationDate__gt=2015-07-01': [2],
    }),
  );

  assumption('A4', 'infers the types of fields that are not documented', async () => {
    await expectIds(
      {
        'related=2': [3],
        'related__title=one': [1],
        'day__hour=5': [2],
        'whole__gt=3': [2],
        'number__gt=1.5': [2],
        'truth=FALSE': [2],
        'text__gte=1': [1, 2],
        'text=1': [2],
      },
      'results',
    );
    await expectRefused({ 'whole=1.5': 'Enter a whole number.', 'number=x': 'Enter a number.' }, 'results');
    await expectIds({ 'budget=1.0': [1], 'budget__lt=2e0': [1] }, 'projects');
  });
});

// spec 2.3 to 2.10: every record of every declared collection has the fields of its table, in the types of its table.
import { describe, expect, test } from 'vitest';
import { row, spec, type Row } from './quotes.ts';
import { servedSample, type JsonObject } from './sample.ts';
import {
  arrayOf,
  boolean,
  date,
  dateTime,
  integer,
  linkTo,
  objectOf,
  orNull,
  relatedTo,
  text,
  uuid,
} from './shapes.ts';

const sample = servedSample();

const IDENTIFIERS = arrayOf(linkTo('identifiers'));
const EMPTY = arrayOf(() => false);

/** Shapes of all fields of rows, as one object. */
function shapeOf(rows: readonly Row[]): ReturnType<typeof objectOf> {
  return objectOf(Object.fromEntries(rows.map(({ field, shape }) => [field, shape])));
}

/** One test per row, over every record; `pick` returns the objects that the table describes. */
function describeTable(
  title: string,
  collection: string,
  rows: readonly Row[],
  pick: (record: JsonObject) => readonly unknown[] = (record) => [record],
): void {
  describe(title, () => {
    test.each(rows)('spec: $quote', async ({ field, shape }) => {
      const objects = (await sample.all(collection)).flatMap(pick) as JsonObject[];
      expect(objects.length).toBeGreaterThan(0);
      for (const object of objects)
        expect(shape(object[field]), `${field}: ${JSON.stringify(object[field])}`).toBe(true);
    });

    test('has the fields of the table in its order', async () => {
      const fields = rows.map(({ field }) => field);
      for (const object of (await sample.all(collection)).flatMap(pick) as JsonObject[]) {
        expect(Object.keys(object).filter((key) => fields.includes(key))).toEqual(fields);
      }
    });
  });
}

const PAIR_ROWS: readonly Row[] = [
  row('ob_id | integer', integer),
  row('platform | string URL of a platforms record', linkTo('platforms')),
  row('instrument | string URL of an instruments record', linkTo('instruments')),
  row('relatedTo | object (see 2.2). short_code is acq for pairs within acquisitions', relatedTo),
];

const ACQUISITION_ROWS: readonly Row[] = [
  row('ob_id | integer', integer),
  row('independentInstrument | array (empty in every record that occurs)', EMPTY),
  row(
    'instrumentplatformpair_set | array of instrument-platform pair records (2.4), each with platform, instrument and relatedTo',
    arrayOf(shapeOf(PAIR_ROWS)),
  ),
];

const COMPUTATION_ROWS: readonly Row[] = [
  row('ob_id | integer', integer),
  row('uuid | string', uuid),
  row('title | string', text),
  row('abstract | string | Free text, may contain line breaks', text),
  row('keywords | string | Comma-separated list, may be empty', text),
  row('inputDescription | string or null', orNull(text)),
  row('outputDescription | string or null', orNull(text)),
  row('softwareReference | string or null', orNull(text)),
  row('identifier_set | array of string URLs of identifiers records | May be empty', IDENTIFIERS),
];

const RESULT_ROWS: readonly Row[] = [
  row('ob_id | string URL', linkTo('observations')),
  row('dataPath | string (path of the data)', text),
  row('oldDataPath | array', Array.isArray),
  row('storageLocation | string (value that occurs: internal)', text),
  row('storageStatus | string (value that occurs: online)', text),
  row('volume | integer', integer),
  row('numberOfFiles | integer', integer),
  row('fileFormat | string', text),
];

const PERMISSION_ROWS: readonly Row[] = [
  row('ob_id | string URL', linkTo('observations')),
  row('useLimitation | string or null', orNull(text)),
  row('accessConstraints | string or null', orNull(text)),
  row('accessCategory | string (value that occurs: registered)', text),
  row('accessRoles | string or null', orNull(text)),
  row('label | string', text),
  row('licenceURL | string URL', text),
  row('licenceClassifications | string (value that occurs: any)', text),
];

describeTable('spec 2.3, acquisitions', 'acquisitions', ACQUISITION_ROWS);
describeTable('spec 2.4, instrument-platform pairs', 'ipps', PAIR_ROWS);

describeTable('spec 2.5, phenomena', 'phenomona', [
  row('ob_id | integer', integer),
  row(
    'names | array of {ob_id integer, name string} | May be empty',
    arrayOf(objectOf({ ob_id: integer, name: text })),
  ),
  row(
    'terms | array of {ob_id integer, label string, value string, vocabulary string} | Order is not fixed. May hold a single term',
    arrayOf(objectOf({ ob_id: integer, label: text, value: text, vocabulary: text })),
  ),
]);

describeTable('spec 2.6, computations', 'computations', COMPUTATION_ROWS);

describeTable('spec 2.7, composites', 'composites', [
  row('ob_id | integer', integer),
  row('computationComponent | array of computation records (2.6)', arrayOf(shapeOf(COMPUTATION_ROWS))),
  row('acquisitionComponent | array of acquisition records (2.3)', arrayOf(shapeOf(ACQUISITION_ROWS))),
  row('identifier_set | array of string URLs', IDENTIFIERS),
  row('responsiblepartyinfo_set | array (empty in every record that occurs)', EMPTY),
]);

describeTable('spec 2.8, identifiers', 'identifiers', [
  row('ob_id | integer', integer),
  row('relatedTo | object | Points at the record that carries the identifier', relatedTo),
  row('url | string | A URL, or a short abbreviation string, depending on identifierType', text),
  row(
    'identifierType | string | Values that occur: doi, archive_abbreviation, legacy2_url, legacy3_url. The operator name is replaced by a neutral word in these values',
    text,
  ),
  row('shortUrl | string | Empty string when there is no short URL', text),
]);

describeTable('spec 2.9, observations', 'observations', [
  row('ob_id | integer', integer),
  row('uuid | string', uuid),
  row('title | string', text),
  row('abstract | string', text),
  row('keywords | string | Comma-separated', text),
  row('publicationState | string | Values that occur: published, citable', text),
  row('dataPublishedTime | string | ISO 8601 date-time without zone', dateTime),
  row('doiPublishedTime | string or null', orNull(text)),
  row('updateFrequency | string | Value that occurs: notPlanned', text),
  row('status | string | Value that occurs: completed', text),
  row('result_field | object | See below', shapeOf(RESULT_ROWS)),
  row('timePeriod | string URL of a times record', linkTo('times')),
  row('geographicExtent | string URL of a bboxes record', linkTo('bboxes')),
  row('nonGeographicFlag | boolean', boolean),
  row('phenomena | array of string URLs of phenomona records', arrayOf(linkTo('phenomona'))),
  row('dataLineage | string', text),
  row('removedDataTime | string or null', orNull(text)),
  row('removedDataReason | string | May be empty', text),
  row('language | string', text),
  row('identifier_set | array of string URLs | May be empty', IDENTIFIERS),
  row('projects | array of string URLs', arrayOf(linkTo('projects'))),
  row('observationcollection_set | array of string URLs', arrayOf(linkTo('observationcollections'))),
  row('responsiblepartyinfo_set | array of string URLs of rpis records', arrayOf(linkTo('rpis'))),
  row('procedureAcquisition | string URL of an acquisitions record, or null', orNull(linkTo('acquisitions'))),
  row('procedureCompositeProcess | string URL or null', orNull(linkTo('composites'))),
  row('procedureComputation | string URL or null', orNull(linkTo('computations'))),
  row('permissions | array of permission objects | See below', arrayOf(shapeOf(PERMISSION_ROWS))),
  row('discoveryKeywords | array of {ob_id integer, name string}', arrayOf(objectOf({ ob_id: integer, name: text }))),
]);

describeTable('spec 2.9, result_field', 'observations', RESULT_ROWS, (record) => [record['result_field']]);
describeTable('spec 2.9, permissions', 'observations', PERMISSION_ROWS, (record) => record['permissions'] as unknown[]);

describeTable('spec 2.10, migration properties', 'migrationproperties', [
  row('id | integer | Named id, not ob_id', integer),
  row(
    'key | string | Dotted name. Patterns that occur: observation.content.<section>, Instrument.content.<section>, Computation.content.<section>, observation_collection.content.citation, observation_collection.citation.publication_date, observation_collection.citation.revision_date, observation_collection.legacy2_citation, legacy2.provider, legacy2.spatial_resolution, legacy2.vertical_extent, project.legacy2_activity_subtype. Sections that occur: update, contact, links, citation, introduction, all',
    (value) => text(value) && String(value).includes('.'),
  ),
  row(
    'value | string | Text, possibly HTML markup with line breaks, or a date-time text, or the text Empty content',
    text,
  ),
  row('modified | string | Date, YYYY-MM-DD', date),
  row('ob_ref | integer | Id of the record the property belongs to', integer),
]);

describe('spec 2.2 to 2.8, values that occur', () => {
  /** The distinct values of a member over arrays of objects. */
  const valuesOf = (objects: readonly unknown[], member: string): Set<unknown> =>
    new Set(objects.map((object) => (object as JsonObject)[member]));

  spec(
    'It is a string URL of an observations record inside `result_field` and inside each `permissions` element.',
    async () => {
      for (const { ob_id, result_field, permissions } of await sample.all('observations')) {
        const own = expect.stringMatching(new RegExp(`/api/v3/observations/${String(ob_id)}/\\?format=api$`));
        expect(result_field).toMatchObject({ ob_id: own });
        for (const permission of permissions as unknown[]) expect(permission).toMatchObject({ ob_id: own });
      }
    },
  );

  spec('Values of short_code that occur are acq, ob, coll, plat, instr and proj.', async () => {
    const identifiers = await sample.all('identifiers');
    const codes = valuesOf(
      identifiers.map(({ relatedTo: related }) => related),
      'short_code',
    );
    expect(codes.size).toBeGreaterThan(1);
  });

  spec('short_code is acq for pairs within acquisitions', async () => {
    const pairs = (await sample.all('acquisitions')).flatMap(
      (record) => record['instrumentplatformpair_set'] as unknown[],
    );
    const related = pairs.map((pair) => (pair as JsonObject)['relatedTo']);
    expect(valuesOf(related, 'short_code')).toEqual(new Set(['acq']));
  });

  spec('Values of label that occur: standard_name, var_id, long_name, units.', async () => {
    const terms = (await sample.all('phenomona')).flatMap((record) => record['terms'] as unknown[]);
    const labels = valuesOf(terms, 'label');
    for (const label of ['standard_name', 'var_id', 'long_name', 'units']) expect(labels).toContain(label);
  });

  spec('The value cf_standard_names occurs for standard_name terms.', async () => {
    const { count } = await sample.page(
      '/api/v3/phenomena/?terms__vocabulary=cf_standard_names&terms__label=standard_name',
    );
    expect(count).toBeGreaterThan(0);
  });

  spec('`vocabulary` is an empty string unless the term belongs to a named vocabulary.', async () => {
    expect((await sample.page('/api/v3/phenomena/?terms__vocabulary=')).count).toBeGreaterThan(0);
  });

  spec('`value` may be an empty string.', async () => {
    const { results } = await sample.page('/api/v3/phenomena/?terms__value=&limit=1');
    for (const { terms } of results) expect(valuesOf(terms as unknown[], 'value')).toContain('');
  });

  spec('Term ob_id values are shared between phenomena that carry the same term.', async () => {
    const terms = (await sample.all('phenomona')).flatMap((record) => record['terms'] as JsonObject[]);
    const byId = new Map<unknown, string>();
    for (const term of terms) {
      const known = byId.get(term['ob_id']);
      if (known !== undefined) expect(JSON.stringify(term)).toBe(known);
      byId.set(term['ob_id'], JSON.stringify(term));
    }
    expect(byId.size).toBeLessThan(terms.length);
  });

  spec('The component records are serialised inline.', async () => {
    const composites = await sample.all('composites');
    expect(composites.some(({ computationComponent }) => (computationComponent as unknown[]).length > 0)).toBe(true);
    expect(composites.some(({ acquisitionComponent }) => (acquisitionComponent as unknown[]).length > 0)).toBe(true);
  });

  spec(
    'publicationState (published, citable occur), status (completed occurs) and storageStatus (online occurs)',
    async () => {
      const filters = ['publicationState=published', 'publicationState=citable', 'status=completed'];
      for (const filter of [...filters, 'result_field__storageStatus=online']) {
        expect((await sample.page(`/api/v3/observations/?limit=1&${filter}`)).count, filter).toBeGreaterThan(0);
      }
    },
  );
});

// Inference of undeclared keys: their structures and types over all records, and the keys that are not fields.
import { describe, expect, test } from 'vitest';
import { Interner } from '../../../../engine/column/intern.ts';
import type { Texts } from '../../../../engine/column/sort.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';
import { combineKinds, inferFields, inferType } from '../../../../data/import/fields.ts';
import { INFERRED_MAX, SCALAR_KIND, type ShapeKind } from '../../../../data/import/shape.ts';
import { verifyFile } from '../../../../data/store/verify.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';

const SCRATCH = temporaryDirectory();
const LINK = (to: string, id: number | string): string => `{base_url}/api/v3/${to}/${id}/?format=api`;

async function inferredIn(collection: string, ...records: object[]): Promise<readonly string[]> {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { file, report } = await imported(dataSetOf(SCRATCH, { [`${collection}.ndjson`]: text }));
  await verifyFile(file, () => undefined);
  const shown = report.inferred.find((one) => one.collection === collection);
  return shown?.fields ?? [];
}

function interned(texts: readonly string[]): Texts {
  const interner = new Interner();
  for (const text of texts) interner.intern(Buffer.from(text), 0, Buffer.byteLength(text));
  return interner.texts;
}

describe('the type of an inferred field', () => {
  const { text, integer, float, boolean } = SCALAR_KIND;
  test.each([
    ['links to one collection', text, [LINK('parties', 1), LINK('parties', 2)], { type: 'link', to: 'parties' }],
    ['links to two collections are text', text, [LINK('parties', 1), LINK('rpis', 2)], { type: 'text' }],
    ['links to no collection are text', text, [LINK('nothing', 1)], { type: 'text' }],
    ['links with 16 digits', text, [LINK('parties', `${'0'.repeat(15)}1`)], { type: 'link', to: 'parties' }],
    ['links with more digits are text', text, [LINK('parties', `${'0'.repeat(16)}1`)], { type: 'text' }],
    ['links to beyond 2^53 - 1 are text', text, [LINK('parties', 1), LINK('parties', 2 ** 53)], { type: 'text' }],
    ['links with a longer path are text', text, [LINK('parties', 1), `${LINK('parties', 2)}&`], { type: 'text' }],
    ['links cut short are text', text, [LINK('parties', 1), LINK('parties', 2).slice(0, -1)], { type: 'text' }],
    ['links after a byte order mark are text', text, [`\ufeff${LINK('parties', 1)}`], { type: 'text' }],
    ['dates', text, ['2010-01-01', '1999-12-31'], { type: 'date' }],
    ['dates and times', text, ['2010-01-01', '2010-01-01T00:00:00Z'], { type: 'dateTime' }],
    ['an invalid date makes text', text, ['2010-01-01', '2010-02-30'], { type: 'text' }],
    ['a link among dates makes text', text, ['2010-01-01', LINK('parties', 1)], { type: 'text' }],
    ['integers', integer, ['1', '-5'], { type: 'integer' }],
    ['integers and other numbers', integer | float, ['1', '1.5'], { type: 'float' }],
    ['booleans', boolean, ['true'], { type: 'boolean' }],
    ['numbers and texts', integer | text, ['1', 'one'], { type: 'text' }],
    ['booleans and numbers', boolean | integer, ['true', '1'], { type: 'text' }],
    ['nothing', 0, [], { type: 'text' }],
  ])('covers all non-null values: %s', (_what, kinds, texts, type) => {
    expect(inferType(kinds, [interned(texts)])).toEqual(type);
    // As two decoders have them, one of which may have no value.
    const [some, others] = [texts.slice(0, -1), texts.slice(-1)];
    expect(inferType(kinds, [interned(some), interned(others)])).toEqual(type);
  });
});

test('combines two sightings of a key in either order', () => {
  const kinds: ShapeKind[] = ['unknown', 'empty', 'column', 'record', 'table', 'elements', 'mixed'];
  for (const a of kinds) {
    for (const b of kinds) {
      expect(combineKinds(a, b)).toBe(combineKinds(b, a));
      for (const c of kinds) expect(combineKinds(combineKinds(a, b), c)).toBe(combineKinds(a, combineKinds(b, c)));
    }
  }
});

describe('a key of the data', () => {
  test('becomes a field with the structure of its values, whenever they first appear', async () => {
    const fields = await inferredIn(
      'notes',
      { ob_id: 1, later: null, place: null },
      { ob_id: 2, place: { name: 'x', at: { deep: 1.5 } }, people: [], tags: ['a'] },
      { ob_id: 3, later: true, people: [{ ob_id: 1, owner: LINK('parties', 3) }, { ob_id: 2 }] },
    );
    expect(fields).toEqual([
      'later boolean',
      'people records',
      'people__ob_id integer',
      'people__owner link to parties',
      'place record',
      'place__at record',
      'place__at__deep float',
      'place__name text',
      'tags scalars of text',
    ]);
  });

  test('becomes a field next to declared ones, inside declared embedded records too', async () => {
    const pair = { ob_id: 1, platform: LINK('platforms', 1), instrument: LINK('instruments', 1) };
    const relatedTo = { ob_id: 1, uuid: 'u', short_code: 'acq', since: '2010-01-01' };
    expect(await inferredIn('ipps', { ...pair, relatedTo, creationDate: '2015-01-01T10:00:00' })).toEqual([
      'relatedTo__since date',
      'creationDate dateTime',
    ]);
  });

  test('becomes no field if its values differ in structure, or if no filter key can contain its name', async () => {
    const first = { ob_id: 1, odd: 1, list: [1, { a: 1 }], 'a b': 1, a__b: 1, '9': 1, ok: 1 };
    expect(await inferredIn('notes', first, { ob_id: 2, odd: { a: 1 } })).toEqual(['ok integer']);
  });

  test('keeps its documented form if it is documented, whether or not any record has it', async () => {
    expect(await inferredIn('times', { ob_id: 1, startTime: 'soon' }, { ob_id: 2, startTime: [] })).toEqual([]);
    expect(await inferredIn('times', { ob_id: 1, startTime: '2010-01-01' }, { ob_id: 2, note: 'x' })).toEqual([
      'note text',
    ]);
    expect(await inferredIn('times')).toEqual([]);
  });

  test('is not inferred if it is a documented embedded record', async () => {
    const relatedTo = { ob_id: 1, uuid: 'u', short_code: 'acq' };
    const party = { ob_id: 1, relatedTo, party: LINK('parties', 1) };
    expect(await inferredIn('rpis', party, { ...party, ob_id: 2, relatedTo: { ...relatedTo, since: 5 } })).toEqual([
      'relatedTo__since integer',
    ]);
  });

  test('becomes no field if there are so many keys that they are data', async () => {
    expect(await inferredIn('notes', { ob_id: 1, ...keys('key', INFERRED_MAX + 1) })).toEqual([]);
  });

  test.each([
    ['platforms', 'location', 'Oslo'],
    ['licences', 'licenceClassifications', 'open'],
    ['licences', 'licenceClassifications', [{ ob_id: 1 }]],
  ])('is still a field if it is documented, here %s, as %s is for %j', async (name, shown, value) => {
    const record = { ob_id: 1, [shown]: value, ...keys('key', INFERRED_MAX + 1) };
    const { report } = await imported(dataSetOf(SCRATCH, { [`${name}.ndjson`]: JSON.stringify(record) }));
    expect(report.inferred.flatMap(({ fields }) => fields)).toEqual([]);
    expect(report.misfits).toMatchObject([{ collection: name, field: shown, values: 1 }]);
  });

  test('becomes no field in any order of the records if its values differ in structure', async () => {
    const records = [
      { ob_id: 1, odd: { list: [[keys('key', INFERRED_MAX / 2)]], ...keys('key', INFERRED_MAX / 2 - 3) } },
      { ob_id: 2, odd: 'text', other: 1 },
    ];
    const [first, second] = records;
    expect(await inferredIn('notes', first!, second!)).toEqual(['other integer']);
    expect(await inferredIn('notes', second!, first!)).toEqual(['other integer']);
    const more = { ob_id: 3, odd: { [`key${INFERRED_MAX}`]: null } };
    expect(await inferredIn('notes', first!, second!, more)).toEqual([]);
    expect(await inferredIn('notes', second!, more, first!)).toEqual([]);
  });
});

function keys(name: string, count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, i]));
}

test('learns nothing from a skipped line', async () => {
  const lines = ['{"ob_id":1,"size":1}', '{"ob_id":2,"size":{"a":1},"lost":1,"ob_id":3}', '{"ob_id":4,"size":2}'];
  const directory = dataSetOf(SCRATCH, { 'notes.ndjson': lines.join('\n') });
  const { report } = await imported(directory, { isLenient: true });
  expect(report.inferred.find(({ collection }) => collection === 'notes')?.fields).toEqual(['size integer']);
});

test.each([
  ['bboxes', 'eastBoundLongitude', 'integer', 'float'],
  ['bboxes', 'eastBoundLongitude', 'text', 'float'],
  ['times', 'startTime', 'date', 'dateTime'],
  ['times', 'other', 'date', 'date'],
] as const)(
  'gives %s/%s its documented type, and others that of their values: %s is %s',
  (name, field, inferred, type) => {
    const path = `${name}/${field}`;
    const evidence = { kinds: new Map([[path, 'column' as const]]), typeOf: () => ({ type: inferred }) };
    expect(inferFields(collectionNamed(name)!, evidence)).toContainEqual(
      expect.objectContaining({ kind: 'scalar', name: field, type }),
    );
  },
);

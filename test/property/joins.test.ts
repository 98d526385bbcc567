// Joined fields and expanded links on the sample: any names, page and form. The bytes do not depend on the pieces, and
// the values are those of the linked records.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../data/store/load.ts';
import { type CollectionIndex, listHere, measuringOf, openSnapshot, SPEC_LINK_END } from '../../engine/engine.ts';
import { measured } from '../../engine/page/rows.ts';
import { rowsBody } from '../../bench/processes/bodies.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { QUERY_OPTIONS } from '../support/lists.ts';
import { expectBody, textOf } from '../support/pages.ts';
import { times } from '../support/ring.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const STORED = 'http://localhost:8080';
type JsonRecord = Readonly<Record<string, unknown>>;

const collections = new Map<string, CollectionIndex>();
/** All records by the end of their link. */
const records = new Map<string, JsonRecord>();

beforeAll(async () => {
  const catalogue = openSnapshot(await loadSnapshot(await sampleSnapshot(), { baseUrl: STORED }, () => {}));
  for (const { name, idField } of COLLECTIONS) {
    const collection = catalogue.collection(name);
    collections.set(name, collection);
    const all = JSON.parse(pageText(collection, 'format=json&limit=100000')) as { results: readonly JsonRecord[] };
    for (const record of all.results) records.set(`/${name}/${String(record[idField])}/`, record);
  }
});

const FORM = { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END } as const;

function pageText(collection: CollectionIndex, query: string): string {
  return textOf(measured(measuringOf(listHere(collection, query, { options: QUERY_OPTIONS, form: FORM }).page!)));
}

function linkedBy(value: unknown): JsonRecord | undefined {
  return typeof value === 'string' ? records.get(/\/[a-z]+\/\d+\/(?=\?format=api$)/.exec(value)?.[0] ?? '') : undefined;
}

function valuesAt(value: unknown, names: readonly string[]): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, names));
  const [name, ...rest] = names;
  if (name === undefined) return [value];
  const danglingId = /\/(\d+)\/\?format=api$/.exec(String(value))?.[1];
  const record = linkedBy(value) ?? (danglingId === undefined ? value : { ob_id: Number(danglingId) });
  return valuesAt(typeof record === 'object' && record !== null ? ((record as JsonRecord)[name] ?? null) : null, rest);
}

function expanded(value: unknown, names: readonly string[]): unknown {
  const [name = '', ...rest] = names;
  if (Array.isArray(value)) return value.map((item) => expanded(item, names));
  if (typeof value !== 'object' || value === null || !(name in value)) return value;
  const linked = (link: unknown): unknown => {
    if (Array.isArray(link)) return link.map(linked);
    const record = linkedBy(link) ?? link;
    return rest.length === 0 ? record : expanded(record, rest);
  };
  return { ...value, [name]: linked((value as JsonRecord)[name]) };
}

const JOINED = [
  'timePeriod__startTime',
  'timePeriod__ob_id',
  'geographicExtent__bboxName',
  'projects__title',
  'projects__ob_id',
  'phenomena__terms__value',
  'permissions__label',
  'permissions__ob_id__timePeriod__endTime',
  'result_field__volume',
  'result_field__oldDataPath',
  'responsiblepartyinfo_set__party__lastName',
];
const EXPANDED = [
  'timePeriod',
  'geographicExtent',
  'projects',
  'phenomena',
  'observationcollection_set',
  'permissions__ob_id',
  'responsiblepartyinfo_set__party',
  'procedureComputation__identifier_set',
  'result_field__ob_id',
];
const KEYS = ['ob_id', 'title', 'timePeriod', 'projects', 'permissions', 'result_field', 'responsiblepartyinfo_set'];

const request = fc.record({
  keys: fc.subarray(KEYS),
  joined: fc.subarray(JOINED),
  paths: fc.subarray(EXPANDED),
  offset: fc.nat(499),
  limit: fc.integer({ min: 1, max: 40 }),
  filter: fc.constantFrom('', '&status!=completed', '&ordering=-uuid', '&after=200'),
  jumps: fc.array(fc.nat(), { maxLength: 8 }),
  baseUrl: fc.constantFrom(STORED, 'https://catalogue.example.org/a/long/prefix', 'x:'),
  version: fc.constantFrom('v2', 'v3'),
  linkEnd: fc.constantFrom(SPEC_LINK_END, '.json'),
});

test('are measured and read in slices of bounded work', () => {
  const observations = collections.get('observations')!;
  const query = `limit=500&fields=${JOINED.join()}`;
  const measuring = measuringOf(listHere(observations, query, { options: QUERY_OPTIONS, form: FORM }).page!);
  let slices = 1;
  let body = measuring();
  for (; !body; slices++) body = measuring();
  let pieces = 0;
  for (let at = 0; at < body.bytes; pieces++) at += body.pieceAt(at).length;
  // 500 records with 11 fields, each at least a step of 256, in slices of 512 Ki.
  expect(slices).toBeGreaterThanOrEqual(3);
  expect(pieces).toBeGreaterThanOrEqual(3);
});

test('adds the values and records that links lead to, with the same bytes from every offset, in every form', () => {
  const observations = collections.get('observations')!;
  fc.assert(
    fc.property(request, ({ keys, joined, paths, offset, limit, filter, jumps, ...form }) => {
      const place = filter.includes('after') ? '' : `&offset=${offset}`;
      const page = `limit=${limit}${place}${filter}`;
      const names = [...keys, ...joined];
      const shape = `&expand=${paths.join()}${names.length > 0 ? `&fields=${names.join()}` : ''}`;
      const plain = JSON.parse(pageText(observations, page)) as { results: readonly JsonRecord[] };
      const own = paths.filter((path) => names.length === 0 || keys.includes(path.split('__')[0]!));
      const expected = plain.results.map((record) => {
        const whole = own.reduce<unknown>((value, path) => expanded(value, path.split('__')), record) as JsonRecord;
        const kept = names.length === 0 ? whole : Object.fromEntries(keys.map((key) => [key, whole[key]]));
        const added = joined.map((name) => [name, valuesAt(record, name.split('__'))] as const);
        return { ...kept, ...Object.fromEntries(added) };
      });
      const results = (JSON.parse(pageText(observations, page + shape)) as { results: readonly JsonRecord[] }).results;
      const flat = results.map((record) => {
        const values = joined.map((name) => [name, [record[name]].flat()] as const);
        return { ...record, ...Object.fromEntries(values) };
      });
      expect(flat).toEqual(expected);
      for (const format of ['json', 'ndjson', 'csv']) {
        const query = `${page}${format === 'csv' ? shape.replace(/&expand=[^&]*/, '') : shape}&format=${format}`;
        const { page: made } = listHere(observations, query, { options: QUERY_OPTIONS, form });
        const body = measured(measuringOf(made!));
        const other = rowsBody(observations.records, { kind: 'range', start: 0, end: 1 }, { ...form, version: 'v2' });
        expectBody(body, textOf(body), jumps, other);
      }
    }),
    { numRuns: times(60, 1000) },
  );
});

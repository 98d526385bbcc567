// @hey-api/openapi-ts with its client for fetch.
import { expect, test } from 'vitest';
import { servedSample } from '../conformance/sample.ts';
import { isInstalled } from '../support/ownPackages.ts';
import { GENERATORS, generatedOutcome, generatorOf, plainOutcome } from './generated.ts';

const sample = servedSample();

const USE = `
import { exportNdjson, getObservations, listObservations } from './client/index.ts';
import { client } from './client/client.gen.ts';

client.setConfig({ baseUrl: process.argv[2]! });
const ids: number[] = [];
let count = 0;
for (let next: string | null = ''; next !== null; ) {
  const { data, error } = await listObservations({ query: { limit: 200, offset: ids.length } });
  if (!data) throw new Error(JSON.stringify(error));
  for (const { ob_id } of data.results) ids.push(ob_id!);
  ({ count, next } = data);
}
const wanted = { status__in: ['completed', 'final'], result_field__volume__gte: 1, title__icontains: 'ice' };
const { data: page } = await listObservations({ query: { ...wanted, limit: 1000 } });
const filtered = page!.results.map(({ ob_id }) => ob_id!);
const { data: record } = await getObservations({ path: { id: filtered[0]! } });
const refusal = await listObservations({ query: { dataPublishedTime__gte: 'soon' } });
const refused = 'dataPublishedTime__gte' in refusal.error! ? refusal.error.dataPublishedTime__gte![0] : undefined;
const absence = await getObservations({ path: { id: 999999999 } });
const missing = absence.error!.detail;
const filters = { status__in: 'completed,final', result_field__volume__gte: 1, title__icontains: 'ice' };
const { data: lines } = await exportNdjson({ path: { collection: 'observations' }, query: { filters }, parseAs: 'text' });
const exported = lines!.trimEnd().split('\\n').length;
process.stdout.write(JSON.stringify({ ids, count, filtered, title: record!.title, refused, missing, exported }));

// Compiled, never called.
void (() => {
  // @ts-expect-error: unknown filter
  void listObservations({ query: { statuss: 'completed' } });
  // @ts-expect-error: a volume is a number
  void listObservations({ query: { result_field__volume: 'large' } });
  // @ts-expect-error: unknown field
  void record!.statuss;
});
`;

test.skipIf(!isInstalled(GENERATORS))(
  'the client of hey-api compiles, refuses what the API does not have, and gets what plain requests get',
  async () => {
    const generate = [generatorOf('@hey-api/openapi-ts/bin/run.js'), '-i', 'openapi.json', '-o', 'client'];
    const plain = await plainOutcome(sample);
    expect(await generatedOutcome(sample, { name: 'hey-api', generate, program: USE })).toEqual(plain);
  },
);

// orval with its client for fetch.
import { expect, test } from 'vitest';
import { servedSample } from '../conformance/sample.ts';
import { isInstalled } from '../support/ownPackages.ts';
import { GENERATORS, generatedOutcome, generatorOf, plainOutcome } from './generated.ts';

const sample = servedSample();

const USE = `
import { exportNdjson, getObservations, listObservations } from './client.ts';

const ids: number[] = [];
let count = 0;
for (let next: string | null = ''; next !== null; ) {
  const { data, status } = await listObservations({ limit: 200, offset: ids.length });
  if (status !== 200) throw new Error(JSON.stringify(data));
  for (const { ob_id } of data.results) ids.push(ob_id!);
  ({ count, next } = data);
}
const wanted = { status__in: ['completed', 'final'], result_field__volume__gte: 1, title__icontains: 'ice' };
const page = await listObservations({ ...wanted, limit: 1000 });
if (page.status !== 200) throw new Error(String(page.status));
const filtered = page.data.results.map(({ ob_id }) => ob_id!);
const record = await getObservations(filtered[0]!);
if (record.status !== 200) throw new Error(String(record.status));
const { title } = record.data;
const refusal = await listObservations({ dataPublishedTime__gte: 'soon' });
const refused = refusal.status === 400 ? refusal.data['dataPublishedTime__gte']![0] : undefined;
const absence = await getObservations(999999999);
const missing = absence.status === 404 ? absence.data.detail : undefined;
const filters = { status__in: 'completed,final', result_field__volume__gte: 1, title__icontains: 'ice' };
const lines = await exportNdjson('observations', { filters });
if (lines.status !== 200) throw new Error(String(lines.status));
const exported = (await lines.stream.text()).trimEnd().split('\\n').length;
process.stdout.write(JSON.stringify({ ids, count, filtered, title, refused, missing, exported }));

// Compiled, never called.
void (() => {
  // @ts-expect-error: unknown filter
  void listObservations({ statuss: 'completed' });
  // @ts-expect-error: a volume is a number
  void listObservations({ result_field__volume: 'large' });
  // @ts-expect-error: unknown field
  void record.data.statuss;
});
`;

test.skipIf(!isInstalled(GENERATORS))(
  'the client of orval compiles, refuses what the API does not have, and gets what plain requests get',
  async () => {
    const output = { target: './client.ts', client: 'fetch', baseUrl: sample.url() };
    const config = { catalogue: { input: { target: './openapi.json' }, output } };
    const files = { 'orval.config.mjs': `export default ${JSON.stringify(config)};` };
    const generate = [generatorOf('orval/dist/bin/orval.mjs'), '--config', 'orval.config.mjs'];
    const plain = await plainOutcome(sample);
    expect(await generatedOutcome(sample, { name: 'orval', files, generate, program: USE })).toEqual(plain);
  },
);

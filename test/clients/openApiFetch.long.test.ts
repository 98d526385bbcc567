// openapi-typescript with openapi-fetch.
import { expect, test } from 'vitest';
import { servedSample } from '../conformance/sample.ts';
import { generatedOutcome, plainOutcome } from './generated.ts';

const sample = servedSample();

/** The generator needs the programming interface of TypeScript 5, which TypeScript 7 does not have. */
const GENERATE = `
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context) });
const { default: openapiTS, astToString } = await import('openapi-typescript');
writeFileSync('catalogue.ts', astToString(await openapiTS(readFileSync('openapi.json', 'utf8'))));
`;

const USE = `
import createClient from 'openapi-fetch';
import type { paths } from './catalogue.ts';

const client = createClient<paths>({ baseUrl: process.argv[2]! });
const LIST = '/api/v3/observations/';
const ids: number[] = [];
let count = 0;
for (let next: string | null = ''; next !== null; ) {
  const { data, error } = await client.GET(LIST, { params: { query: { limit: 200, offset: ids.length } } });
  if (!data) throw new Error(JSON.stringify(error));
  for (const { ob_id } of data.results) ids.push(ob_id!);
  ({ count, next } = data);
}
const wanted = {
  status__in: ['completed', 'final'],
  result_field__volume__gte: 1,
  title__icontains: 'ice',
};
const { data: page } = await client.GET(LIST, { params: { query: { ...wanted, limit: 1000 } } });
const filtered = page!.results.map(({ ob_id }) => ob_id!);
const { data: record } = await client.GET('/api/v3/observations/{id}/', { params: { path: { id: filtered[0]! } } });
const refusal = await client.GET(LIST, { params: { query: { dataPublishedTime__gte: 'soon' } } });
const refused = 'dataPublishedTime__gte' in refusal.error! ? refusal.error.dataPublishedTime__gte![0] : undefined;
const absence = await client.GET('/api/v3/observations/{id}/', { params: { path: { id: 999999999 } } });
const missing = absence.error!.detail;
const filters = { status__in: 'completed,final', result_field__volume__gte: 1, title__icontains: 'ice' };
const { data: lines } = await client.GET('/api/v3/{collection}.ndjson', {
  params: { path: { collection: 'observations' }, query: { filters } },
  parseAs: 'text',
});
const exported = lines!.trimEnd().split('\\n').length;
process.stdout.write(JSON.stringify({ ids, count, filtered, title: record!.title, refused, missing, exported }));

// Compiled, never called.
void (() => {
  // @ts-expect-error: unknown path
  void client.GET('/api/v3/observation/');
  // @ts-expect-error: unknown filter
  void client.GET(LIST, { params: { query: { statuss: 'completed' } } });
  // @ts-expect-error: a volume is a number
  void client.GET(LIST, { params: { query: { result_field__volume: 'large' } } });
  // @ts-expect-error: unknown field
  void record!.statuss;
});
`;

test('openapi-fetch compiles with the document, refuses what the API does not have, and gets what plain requests get', async () => {
  const client = { name: 'openapi-fetch', files: { 'generate.js': GENERATE }, generate: ['generate.js'], program: USE };
  // Plain requests first: the server closes connections that are idle while the client is made.
  const plain = await plainOutcome(sample);
  expect(await generatedOutcome(sample, client)).toEqual(plain);
});

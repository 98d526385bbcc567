// A client that a generator makes of the OpenAPI document, as its users would: it compiles with the compiler of the
// project, refuses what the API does not have, and walks a filtered list.
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { servedSample } from '../conformance/sample.ts';
import { ROOT } from '../support/sources.ts';

const sample = servedSample();

/** The generator wants the programming interface of TypeScript 5, which TypeScript 7 does not have. */
const GENERATE = `
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context) });
const { default: openapiTS, astToString } = await import('openapi-typescript');
writeFileSync('catalogue.ts', astToString(await openapiTS(readFileSync('openapi.json', 'utf8'))));
`;

const WALK = `
import createClient from 'openapi-fetch';
import type { paths } from './catalogue.ts';

const [, , baseUrl = ''] = process.argv;
const client = createClient<paths, 'application/json'>({ baseUrl, querySerializer: { object: { style: 'form', explode: true } } });
const filters = { status__in: 'completed,final', result_field__volume__gte: 1 } as const;
const ids: number[] = [];
for (let offset = 0; ; offset += 30) {
  const { data, error } = await client.GET('/api/v3/observations/', {
    params: { query: { limit: 30, offset, filters } },
  });
  if (!data) throw new Error(JSON.stringify(error));
  for (const record of data.results) ids.push(record.ob_id!);
  if (data.next === null) break;
}
const { data: record } = await client.GET('/api/v3/observations/{id}/', { params: { path: { id: ids[0]! } } });
const status: string | undefined = record?.status;
process.stdout.write(JSON.stringify({ ids, status }));

// Compiled, never called.
void (() => {
  // @ts-expect-error: there is no such path
  void client.GET('/api/v3/observation/');
  // @ts-expect-error: there is no such filter
  void client.GET('/api/v3/observations/', { params: { query: { filters: { statuss: 'completed' } } } });
  // @ts-expect-error: a volume is a number
  void client.GET('/api/v3/observations/', { params: { query: { filters: { result_field__volume: 'large' } } } });
  // @ts-expect-error: a record has no such field
  void (record?.statuss);
});
`;

test('a generated client compiles, knows paths, filters and records, and walks a list', async () => {
  const directory = join(inject('runDirectory'), 'generated-client');
  mkdirSync(directory);
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const run = (...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: directory, encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  };
  // Before this process waits for others: the server ends connections that are idle meanwhile.
  const query = 'status__in=completed,final&result_field__volume__gte=1&limit=1000&fields=ob_id';
  const { results } = await sample.page(`/api/v3/observations/?${query}`);
  writeFileSync(join(directory, 'openapi.json'), (await sample.get('/openapi.json')).body);
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'generate.js'), GENERATE);
  writeFileSync(join(directory, 'walk.ts'), WALK);
  run('generate.js');
  const options = '--noEmit --strict --target es2024 --module nodenext --allowImportingTsExtensions --skipLibCheck';
  run('node_modules/typescript/lib/tsc.js', ...options.split(' '), '--types', 'node', 'walk.ts');
  const walked = JSON.parse(run('walk.ts', sample.url())) as { readonly ids: number[]; readonly status: string };
  expect(walked.ids).toEqual(results.map((record) => record['ob_id']));
  expect(['completed', 'final']).toContain(walked.status);
});

// Clients that generators make of the OpenAPI document, as their users make them: generated, compiled with the compiler
// of the project, and run against a real server. Each test gives a generator and a program that does the same with its
// client; the outcome is compared with that of plain requests.
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import type { Sample } from '../conformance/sample.ts';
import { ROOT } from '../support/sources.ts';

/** `program` prints its outcome as JSON. Its argument is the URL of the server. */
export interface GeneratedClient {
  readonly name: string;
  /** More files of the folder, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Arguments for Node that read `openapi.json` and write the client. */
  readonly generate: readonly string[];
  readonly program: string;
}

/** The results of the requests that each program makes with its client. */
interface Outcome {
  /** The ids of all observations, by pages of 200, and their count. */
  readonly ids: readonly number[];
  readonly count: number;
  /** The ids of those with `status__in` completed or final, a volume of at least 1, and `ice` in the title. */
  readonly filtered: readonly number[];
  /** The title of the first of these. */
  readonly title: string;
  /** The message for `dataPublishedTime__gte=soon`, and the one for a record that does not exist. */
  readonly refused: string;
  readonly missing: string;
  /** The records of `filtered` exported as NDJSON. */
  readonly exported: number;
}

/** The folder of the generators that are not among the packages of the project. */
export const GENERATORS = 'test/generators';

/** The path of a generator's program. */
export function generatorOf(program: string): string {
  return join(ROOT, GENERATORS, 'node_modules', program);
}

const FILTERED = 'status__in=completed,final&result_field__volume__gte=1&title__icontains=ice&limit=1000';
const OPTIONS =
  '--strict --target es2024 --module nodenext --rewriteRelativeImportExtensions ' +
  '--skipLibCheck --types node --outDir out';

/** Generates, compiles and runs a client of the served document. Returns what its program prints. */
export async function generatedOutcome(
  sample: Sample,
  { name, files = {}, generate, program }: GeneratedClient,
): Promise<unknown> {
  const cwd = join(inject('runDirectory'), `client-${name}`);
  mkdirSync(cwd);
  symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const document = (await sample.get('/openapi.json')).body;
  const all = { 'openapi.json': document, 'package.json': '{"type":"module"}', 'use.ts': program, ...files };
  for (const [file, text] of Object.entries(all)) writeFileSync(join(cwd, file), text);
  const node = (...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  };
  node(...generate);
  node('node_modules/typescript/lib/tsc.js', ...OPTIONS.split(' '), 'use.ts');
  return JSON.parse(node('out/use.js', sample.url()));
}

/** The same by plain requests. */
export async function plainOutcome(sample: Sample): Promise<Outcome> {
  const list = '/api/v3/observations/';
  const all = await sample.page(`${list}?limit=1000&fields=ob_id`);
  const filtered = await sample.page(`${list}?${FILTERED}&fields=ob_id,title`);
  const messages = async (target: string): Promise<Readonly<Record<string, string | readonly string[]>>> =>
    JSON.parse((await sample.get(target)).body) as Record<string, string | string[]>;
  const refused = await messages(`${list}?dataPublishedTime__gte=soon`);
  const missing = await messages(`${list}999999999/`);
  const idsOf = (records: readonly Readonly<Record<string, unknown>>[]): number[] =>
    records.map((record) => Number(record['ob_id']));
  expect(filtered.count).toBeGreaterThan(1);
  return {
    ids: idsOf(all.results),
    count: all.count,
    filtered: idsOf(filtered.results),
    title: String(filtered.results[0]!['title']),
    refused: refused['dataPublishedTime__gte']![0]!,
    missing: String(missing['detail']),
    exported: filtered.count,
  };
}

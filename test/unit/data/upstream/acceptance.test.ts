// Acceptance of crawls, by the records that a collection lost.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crawled, filesOf, newOutputIn, recordsFrom, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory, ndjsonOf } from '../../../support/dataSets.ts';
import { plainUpstreams } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();
const newOutput = (): string => newOutputIn(directory);

test('fails a crawl if a collection lost more than --shrink-max, unless --force allows it', async () => {
  const collections = { notes: recordsFrom(0, 100), times: recordsFrom(0, 100) };
  const { url } = await upstreamOf({ collections });
  const output = newOutput();
  await crawled(url, output);
  const old = filesOf(output);
  Object.assign(collections, { notes: recordsFrom(0, 94), times: recordsFrom(0, 95) });
  await expect(crawled(url, output)).rejects.toThrow(
    'notes has 94 records, 100 before; more than 5 % are gone: --shrink-max 6 or --force accepts it',
  );
  expect(filesOf(output)).toEqual(old);
  await crawled(url, output, { isForced: true });
  expect(recordsOf(output)!['notes.ndjson']).toBe(ndjsonOf(...collections.notes));
  expect(existsSync(`${output}.crawl`)).toBe(false);
});

test('names in a refusal the values of the flags that accept the crawl, and no more than necessary', async () => {
  const notes = Array.from({ length: 7 }, (_, i) => ({
    ob_id: i,
    time: `{upstream}/api/v3/times/${i === 6 ? 9 : 1}/`,
  }));
  const collections = { notes, times: recordsFrom(0, 3) };
  const { url } = await upstreamOf({ collections });
  const output = newOutput();
  await crawled(url, output, { linksMin: 0 });
  collections.times = recordsFrom(0, 2);
  const reasons = '1 of 7 links lead to no record, 1 as notes link to times/9; less than 99.9 % resolve; ';
  const losses = 'times has 2 records, 3 before; more than 5 % are gone';
  await expect(crawled(url, output)).rejects.toThrow(
    `${reasons}${losses}: --links-min 85.71 and --shrink-max 33.34 or --force accept it, removing `,
  );
  await expect(crawled(url, output, { linksMin: 85.72, shrinkMax: 33.34 })).rejects.toThrow(
    '--links-min 85.71 accepts',
  );
  await expect(crawled(url, output, { linksMin: 85.71, shrinkMax: 33.33 })).rejects.toThrow('--shrink-max 33.34 or');
  await crawled(url, output, { linksMin: 85.71, shrinkMax: 33.34 });
});

test.each([
  [18, 17, 5, false],
  [18, 17, 6, true],
  [20, 19, 5, true],
  [20, 18, 5, false],
  [1, 0, 100, true],
])('accepts a loss from %i to %i records if %i percent may go: %s', async (...row) => {
  const [before, after, shrinkMax, isAccepted] = row;
  const collections = { notes: recordsFrom(0, before), times: recordsFrom(0, 100) };
  const { url } = await upstreamOf({ collections });
  const output = newOutput();
  await crawled(url, output);
  collections.notes = recordsFrom(0, after);
  const again = crawled(url, output, { shrinkMax });
  if (isAccepted) expect((await again)?.counts).toMatchObject({ notes: after });
  else await expect(again).rejects.toThrow(`notes has ${after} records, ${before} before`);
});

test('counts a missing collection as one that lost all records', async () => {
  const output = newOutput();
  const { url } = await upstreamOf({ collections: { notes: recordsFrom(0, 1) } });
  mkdirSync(output);
  writeFileSync(join(output, 'times.ndjson'), '{"ob_id":1}\n{"ob_id":2}');
  writeFileSync(join(output, 'MANIFEST.json'), JSON.stringify({ source: url }));
  await expect(crawled(url, output)).rejects.toThrow('times has 0 records, 2 before');
});

test('names three of many collections that lost too much, and counts the others', async () => {
  const names = ['notes', 'times', 'ipps', 'mpos', 'rpis'];
  const collections = Object.fromEntries(names.map((name) => [name, recordsFrom(0, 2)]));
  const { url } = await upstreamOf({ collections });
  const output = newOutput();
  await crawled(url, output);
  for (const name of names) collections[name] = recordsFrom(0, 1);
  await expect(crawled(url, output)).rejects.toThrow(
    /^(?:\w+ has 1 records, 2 before; ){3}2 other collections lost as much; more than 5 % are gone: /,
  );
});

test.each([
  ['of another catalogue', { source: 'http://other.example.org' }, 'what was crawled of http://other.example.org'],
  ['that no crawl wrote', undefined, 'a data set that no crawl wrote'],
])('replaces a data set %s with --force only, and otherwise sends no request', async (_what, manifest, holds) => {
  const { url, requests } = await upstreamOf({ collections: { notes: recordsFrom(0, 2) } });
  const output = newOutput();
  mkdirSync(output);
  writeFileSync(join(output, 'notes.ndjson'), '{"ob_id":7}\n');
  if (manifest) writeFileSync(join(output, 'MANIFEST.json'), JSON.stringify(manifest));
  const old = filesOf(output);
  await expect(crawled(url, output)).rejects.toMatchObject({
    code: 'usage',
    message:
      `${output} holds ${holds}, not that of ${url}: name another directory, ` +
      'or replace it with --force, this time alone: it accepts every loss too',
  });
  expect([requests.length, filesOf(output)]).toEqual([0, old]);
  await crawled(url, output, { isForced: true });
  expect(recordsOf(output)).toEqual({ 'notes.ndjson': ndjsonOf(...recordsFrom(0, 2)) });
});

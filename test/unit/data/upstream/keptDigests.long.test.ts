// Change log entries of a snapshot that was built from the previous one. They equal, byte for byte, those of a
// comparison of all records, and damage that both snapshots would share is found.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { appendGeneration, changesBetween } from '../../../../data/upstream/changeLog.ts';
import { type CatalogueDigests, digestCatalogue, digestChanged } from '../../../../data/upstream/digests.ts';
import type { ImportReport } from '../../../../data/import/import.ts';
import { generate } from '../../../../data/synth/generate.ts';
import { dataSetOf, type Files, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { type Random, randomOf, RUN_SEED } from '../../../support/random.ts';

const directory = temporaryDirectory();
type Lines = Readonly<Record<string, readonly string[]>>;
let lines: Lines;
/** The next id that no record has. */
let freshId = 1_000_000;

beforeAll(async () => {
  const made = join(directory, 'made');
  await generate({ observations: 80, seed: 1, directory: made }, () => undefined);
  const names = readdirSync(made).filter((name) => name.endsWith('.ndjson'));
  lines = Object.fromEntries(names.map((name) => [name, readFileSync(join(made, name), 'utf8').trimEnd().split('\n')]));
});

/** A data set of these lines with their sums. */
function dataSet(all: Lines): string {
  const files: Files = Object.fromEntries(Object.entries(all).map(([name, of]) => [name, `${of.join('\n')}\n`]));
  const sums = Object.entries(files).map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]);
  return dataSetOf(directory, { ...files, 'MANIFEST.json': JSON.stringify({ sha256: Object.fromEntries(sums) }) });
}

/** Changes, respells, removes, moves or adds some lines of some files, and may remove a file. */
function altered(all: Lines, random: Random): Lines {
  const alteredLine = (line: string, i: number): readonly string[] => {
    if (random.chance(0.8)) return [line];
    const record = JSON.parse(line) as { ob_id: number };
    const others: readonly (readonly string[])[] = [
      [],
      [` ${line}`],
      [JSON.stringify(Object.fromEntries(Object.entries(record).toReversed()))],
      ['title' in record ? JSON.stringify({ ...record, title: `another ${i}` }) : line],
      [line, JSON.stringify({ ...record, ob_id: freshId++ })],
    ];
    return random.pick(others);
  };
  const files = Object.entries(all).filter(() => !random.chance(0.02));
  return Object.fromEntries(
    files.map(([name, of]) => {
      if (random.chance(0.5) || name.startsWith('migrationproperties')) return [name, of];
      const next = of.flatMap(alteredLine);
      return [name, random.chance(0.1) ? random.shuffled(next) : next];
    }),
  );
}

interface Generations {
  readonly directories: readonly [before: string, after: string];
  readonly before: string;
  readonly after: string;
  readonly report: ImportReport;
}

/** A snapshot of some lines, and a second one of other lines that is built from the first. */
async function generationsOf(one: Lines, other: Lines): Promise<Generations> {
  const directories = [dataSet(one), dataSet(other)] as const;
  const { file: before, report: first } = await imported(directories[0]);
  const earlier = { file: before, origin: first.origin };
  const { file: after, report } = await imported(directories[1], { earlier });
  return { directories, before, after, report };
}

function logOf(digests: readonly [CatalogueDigests, CatalogueDigests], generation: string): Buffer {
  const file = join(mkdtempSync(join(directory, 'log-')), 'changes.log');
  appendGeneration(file, { generation, at: 1, isBase: false, changes: changesBetween(...digests) });
  return readFileSync(file);
}

test('logs the same bytes as a comparison of all records', async () => {
  const seed = RUN_SEED;
  const random = randomOf(seed);
  const work = { carried: 0, merged: 0 };
  let changes = 0;
  let one = lines;
  for (let i = 0; i < 4; i++) {
    const other = altered(one, random);
    const { directories, before, after, report } = await generationsOf(one, other);
    const nothing = (): void => undefined;
    const [all, left] = [
      [await digestCatalogue(directories[0], 0, nothing), await digestCatalogue(directories[1], 0, nothing)] as const,
      digestChanged(before, after, report.kept),
    ];
    work.carried += report.work.carried;
    work.merged += report.work.merged;
    changes += [...changesBetween(...all)].length;
    expect(logOf(left, report.generation).equals(logOf(all, report.generation)), `seed ${seed}`).toBe(true);
    expect([...left[0].values()].length).toBeLessThan([...all[0].values()].length);
    one = other;
  }
  // A single round may find nothing to merge.
  expect(work.carried, `seed ${seed}`).toBeGreaterThan(0);
  expect(work.merged, `seed ${seed}`).toBeGreaterThan(0);
  expect(changes).toBeGreaterThan(20);
});

test('digests no record that both snapshots share', async () => {
  const [first, ...others] = lines['observations.ndjson']!;
  const { before, after, report } = await generationsOf(lines, { ...lines, 'observations.ndjson': others });
  const [old, young] = digestChanged(before, after, report.kept);
  expect([...old].map(([name, { ids }]) => [name, ...ids])).toEqual([
    ['observations', (JSON.parse(first!) as { ob_id: number }).ob_id],
  ]);
  expect(young.get('observations')!.ids).toHaveLength(0);
});

test.each([
  ['in carried-over data', 'platforms', /platforms\/records\/0\.bytes: checksum/],
  ['in a record that is gone', 'observations', /observations\/records\/0\.bytes: checksum/],
])('reports damage %s as an error', async (_, name, message) => {
  const [first, ...others] = lines['observations.ndjson']!;
  const { file: before, report } = await imported(dataSet(lines));
  const bytes = readFileSync(before);
  const record = name === 'observations' ? first! : lines[`${name}.ndjson`]!.at(-1)!;
  bytes[bytes.indexOf(record) + record.length - 3]! ^= 1;
  writeFileSync(before, bytes);
  const earlier = { file: before, origin: report.origin };
  const next = await imported(dataSet({ ...lines, 'observations.ndjson': others }), { earlier });
  expect(() => digestChanged(before, next.file, next.report.kept)).toThrow(message);
});

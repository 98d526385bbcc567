// An import that reuses unchanged data writes the same bytes as one that does not, for any changes: records, keys,
// record shapes, values and links that come and go, over several generations. Failures print their seed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EarlierImport } from '../../data/import/earlier.ts';
import { SectionFile } from '../../data/store/sectionFile.ts';
import type { FieldMisfits } from '../../engine/snapshot/metadata.ts';
import { generate } from '../../data/synth/generate.ts';
import { dataSetOf, imported, temporaryDirectory } from '../support/dataSets.ts';
import { type Random, randomOf } from '../support/random.ts';
import { snapshotOf } from '../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
/** Enough for an n-gram index of the titles, and for blocks with several abstracts in theirs. */
const OBSERVATIONS = 700;
const GENERATIONS = 4;
/** Seeds with the omitted index variants, and whether undeclared keys appear. */
const CASES: readonly (readonly [seed: number, without: string | undefined, hasExtras: boolean])[] = [
  [1, undefined, false],
  [2, undefined, false],
  [3, 'grams', true],
  [4, 'bitmaps', true],
];

type Json = Record<string, unknown>;
type Catalogue = Record<string, readonly string[]>;

const first: Catalogue = {};
beforeAll(async () => {
  const directory = join(SCRATCH, 'first');
  await generate({ observations: OBSERVATIONS, seed: 11, directory }, () => undefined);
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.ndjson')))
    first[name] = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
});

const keyIn = (random: Random, record: Json): string =>
  random.pick(Object.keys(record).filter((key) => key !== 'ob_id' && key !== 'id'));

/** Fields of collections that accept any value. */
const UNCHECKED = new Set([
  'eastBoundLongitude',
  'bboxName',
  'volume',
  'oldDataPath',
  'priority',
  'party',
  'startTime',
  'member',
  'location',
  'platformType',
  'licenceURL',
  'resolvedTerm',
]);
const ODD: readonly unknown[] = [7, '7', 7.5, 'x', true, [], [7], { a: 1 }, null, '2020-02-30T00:00:00'];

type Changer = (random: Random, record: Json, others: readonly Json[]) => unknown;

const changers: readonly Changer[] = [
  (random, record) => delete record[keyIn(random, record)],
  (random, record, others) => {
    const other = random.pick(others);
    const key = keyIn(random, other);
    if (other[key] !== undefined) record[key] = other[key];
  },
  (random, record) => {
    for (const [key, value] of Object.entries(record))
      if (typeof value === 'string' && /title|abstract|lineage/i.test(key))
        record[key] = `${random.pick(['Änderung', 'zz', 'A', ''])} ${value} ${random.integer(0, 5)}`;
  },
  (random, record) => (record.lastUpdatedDate &&= `2027-01-0${random.integer(1, 9)}T00:00:00Z`),
  (_, record) => {
    for (const [key, value] of Object.entries(record))
      if (Array.isArray(value)) record[key] = value.toReversed().slice(1);
  },
  (random, record) => {
    for (const [key, value] of Object.entries(record))
      if (typeof value === 'string' && value.startsWith('{base_url}') && random.chance(0.5))
        record[key] = value.replace(/\d+(?=\/\?)/, () => String(random.integer(1, 900)));
  },
  // Adds and removes values that do not fit.
  (random, record) => {
    for (const [key, value] of Object.entries(record)) {
      if (UNCHECKED.has(key) && random.chance(0.7)) record[key] = random.pick(ODD);
      if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value))
        record[key] = value.replace(/-\d\d-\d\d/, '-02-30');
    }
  },
  // Gives the record a different shape.
  (random, record) => {
    const entries = random.shuffled(Object.entries(record));
    for (const [key] of entries) delete record[key];
    Object.assign(record, Object.fromEntries(entries));
  },
];

const addKey: Changer = (random, record) => {
  if (random.chance(0.1))
    record[`extra${random.integer(0, 2)}`] = random.pick<unknown>([1, 2.5, 'text', null, [], ['x']]);
};

/** Changes some records of some collections. */
function changed(random: Random, catalogue: Catalogue, kinds: readonly Changer[]): Catalogue {
  const next: Catalogue = {};
  for (const [file, lines] of Object.entries(catalogue)) {
    next[file] = lines;
    if (!random.chance(file.startsWith('observations.') ? 0.9 : 0.4)) continue;
    const rate = random.pick([0.01, 0.05, 0.3]);
    const records = lines.map((line) => JSON.parse(line) as Json);
    const ids = records.map(({ ob_id: id, id: other }) => Number(id ?? other));
    let nextId = Math.max(...ids) + 1;
    const left = records.flatMap((record) => {
      if (!random.chance(rate)) return [JSON.stringify(record)];
      const kind = random.integer(0, 6);
      if (kind === 0) return [];
      const young = structuredClone(record);
      if (kind === 1) young[Object.hasOwn(young, 'ob_id') ? 'ob_id' : 'id'] = nextId++;
      random.pick(kinds)(random, young, records);
      if (kind === 1 && random.chance(0.5)) return [JSON.stringify(record), JSON.stringify(young)];
      return [JSON.stringify(young)];
    });
    if (left.length > 0) next[file] = random.chance(0.1) ? random.shuffled(left) : left;
  }
  return next;
}

/** A data set with its manifest; some lines have a spelling that no canonical writer produces. */
function written(random: Random, catalogue: Catalogue): string {
  const files: Record<string, string> = {};
  const sha256: Record<string, string> = {};
  for (const [file, lines] of Object.entries(catalogue)) {
    const isWild = random.chance(0.1);
    const text = lines
      .map((line) => (isWild && random.chance(0.2) ? line.replaceAll('","', '" ,\t"') : line))
      .join('\n');
    files[file] = random.chance(0.2) ? `\n${text}\n\n` : `${text}\n`;
    sha256[file] = createHash('sha256').update(files[file]).digest('hex');
  }
  return dataSetOf(SCRATCH, { ...files, 'MANIFEST.json': JSON.stringify({ created: '2026-01-01T00:00:00Z', sha256 }) });
}

/** Only a whole import knows the lines. */
function withoutPlaces(misfits: readonly FieldMisfits[]): readonly unknown[] {
  return misfits.map((one) => ({ ...one, examples: one.examples.map(({ id, text }) => [id, text]) }));
}

describe('an import that reuses unchanged data equals a whole one', () => {
  test.each(CASES)('with seed %i, without %s, extra keys: %s', async (seed, without, hasExtras) => {
    const random = randomOf(seed);
    let catalogue = first;
    let earlier: EarlierImport | undefined;
    const work = { carried: 0, merged: 0, misfits: 0 };
    for (let i = 0; i < GENERATIONS; i++) {
      const directory = written(random, catalogue);
      const whole = await imported(directory, { without });
      const renewed = await imported(directory, { without, earlier, file: `${directory}.renewed` });
      expect(readFileSync(renewed.file).equals(readFileSync(whole.file)), `seed ${seed}, generation ${i}`).toBe(true);
      expect(renewed.report.collections).toEqual(whole.report.collections);
      expect(renewed.report.origin).toEqual(whole.report.origin);
      expect(withoutPlaces(renewed.report.misfits)).toEqual(withoutPlaces(whole.report.misfits));
      work.misfits += whole.report.misfits.length;
      work.carried += renewed.report.work.carried;
      work.merged += renewed.report.work.merged;
      earlier = { file: renewed.file, origin: renewed.report.origin };
      catalogue = changed(random, catalogue, hasExtras ? [...changers, addKey] : changers);
    }
    expect(work.carried).toBeGreaterThan(0);
    expect(work.merged).toBeGreaterThan(0);
    expect(work.misfits).toBeGreaterThan(0);
  });
});

describe('an import with an earlier snapshot', () => {
  const lines = (texts: readonly string[]): Catalogue => ({
    ...first,
    'observations.ndjson': texts,
  });
  const begun = async (): Promise<EarlierImport> => {
    const { file, report } = await imported(written(randomOf(7), first));
    return { file, origin: report.origin };
  };

  test('parses only changed lines, and carries unchanged data over whole', async () => {
    const earlier = await begun();
    const [one, two, ...others] = first['observations.ndjson']!;
    const young = JSON.stringify({ ...(JSON.parse(two!) as Json), title: 'other' });
    const directory = written(randomOf(7), lines([...others, one!, young]));
    const { report } = await imported(directory, { earlier });
    expect(report.work).toEqual({ carried: Object.keys(first).length - 1, merged: 1, parsed: 1 });
  });

  test('reuses nothing from a snapshot that is not the noted one, is damaged, or has other index variants', async () => {
    const { file, origin } = await begun();
    const directory = written(randomOf(7), lines(first['observations.ndjson']!.slice(1)));
    const refusal = (earlier: EarlierImport, without?: string): Promise<unknown> =>
      imported(directory, { earlier, without, file: `${directory}.refused` });
    await expect(refusal({ file, origin: { ...origin, generation: 'f'.repeat(64) } })).rejects.toThrow(
      /differs from the noted one/,
    );
    await expect(refusal({ file, origin }, 'grams')).rejects.toThrow(/other index variants/);
    const bytes = readFileSync(file);
    const at = bytes.indexOf(JSON.parse(first['observations.ndjson']![5]!).uuid as string, bytes.length >> 1);
    bytes[at]! ^= 1;
    writeFileSync(file, bytes);
    await expect(refusal({ file, origin })).rejects.toThrow(/section observations\/.*: checksum/);
    expect(readdirSync(SCRATCH).filter((name) => name.includes('.refused'))).toEqual([]);
  });

  test('reuses records that span many runs', async () => {
    const texts = first['observations.ndjson']!.slice(0, 50);
    const file = join(SCRATCH, 'runs.snapshot');
    await snapshotOf(file, { observations: texts.join('\n') }, 20_000);
    const origin = { generation: new SectionFile(file).generation, sums: {}, skipped: {}, undeclared: [] };
    const young = JSON.stringify({ ...(JSON.parse(texts[20]!) as Json), title: 'other' });
    const observations = [...texts.slice(3, 20), young, ...texts.slice(21)];
    const directory = written(randomOf(7), { 'observations.ndjson': observations });
    const whole = await imported(directory);
    const { file: made, report } = await imported(directory, {
      earlier: { file, origin },
      file: `${directory}.renewed`,
    });
    expect(report.work).toEqual({ carried: 0, merged: 1, parsed: 1 });
    expect(readFileSync(made).equals(readFileSync(whole.file))).toBe(true);
  });

  test('refuses lines with the same id as a whole import does', async () => {
    const earlier = await begun();
    const [one, ...others] = first['observations.ndjson']!;
    const twin = JSON.stringify({ ...(JSON.parse(one!) as Json), title: 'twin' });
    for (const added of [one!, twin]) {
      const directory = written(randomOf(7), lines([one!, ...others, added]));
      await expect(imported(directory, { earlier })).rejects.toMatchObject({ code: 'input' });
    }
  });
});

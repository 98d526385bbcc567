// `verify --deep`: a snapshot whose index agrees with itself and not with its records is found, whatever kind of
// section is wrong. The kinds come from the table of sections, so that a new one is tested here by being declared.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { INFERRED_MAX } from '../../../../data/decode/shape.ts';
import { differencesIn, verifyFile, type VerifyReport } from '../../../../data/store/verify.ts';
import { BLOCKS, BLOCKS_TITLE, GROUPS, sectionName, type SectionGroup } from '../../../../engine/snapshot/sections.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { faultOf, rewriteSnapshot, SMALL_TEXTS, snapshotOf, type NamedSection } from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const SAMPLE = join(import.meta.dirname, '../../../../data/sample');
const GOOD = join(SCRATCH, 'good.snapshot');
const OTHER = join(SCRATCH, 'other.snapshot');
const LYING = join(SCRATCH, 'lying.snapshot');
const FULL = join(SCRATCH, 'full.snapshot');
const EMPTY = join(SCRATCH, 'empty.snapshot');

const IN_SNAPSHOTS: readonly SectionGroup[] = GROUPS.filter((group) => group !== BLOCKS && group !== BLOCKS_TITLE);
/** Long enough for an n-gram index. */
const notes = (part: string): string =>
  Array.from({ length: 800 }, (_, i) => JSON.stringify({ ob_id: i, text: part.repeat(i % 90) + i })).join('\n');

/** The same records in form and number, with other values, embedded rows, ids and orders of keys. */
const OTHER_TEXTS = {
  ...SMALL_TEXTS,
  phenomona: SMALL_TEXTS.phenomona
    .replaceAll('"units"', '"l1"')
    .replace('"names":[]', '"names":[{"ob_id":7,"name":"n"}]'),
  platforms: '{"ob_id":1}\n{"ob_id":7}',
  migrationproperties: SMALL_TEXTS.migrationproperties.replace('2019-01-02', 'later'),
  ipps: SMALL_TEXTS.ipps
    .replace('platforms/5/', 'platforms/7/')
    .replace('platforms/2/', 'platforms/5/')
    .replace(/"ob_id":5,(.*)}/, '$1,"ob_id":5}'),
};

beforeAll(async () => {
  await snapshotOf(GOOD, { ...SMALL_TEXTS, notes: notes('ab') });
  await snapshotOf(OTHER, { ...OTHER_TEXTS, notes: notes('cd') });
});

function isOf(suffixes: readonly string[], { name }: NamedSection): boolean {
  return suffixes.includes(name.slice(name.lastIndexOf('.') + 1));
}

/** The good snapshot with those sections of the other that fit. */
async function mixed(isTaken: (section: NamedSection) => boolean, good = GOOD, other = OTHER): Promise<number> {
  const others = new Map<string, NamedSection>();
  await rewriteSnapshot(other, LYING, (sections) => {
    for (const section of sections) others.set(section.name, section);
    return sections;
  });
  const bytesOf = ({ elements }: NamedSection): Buffer =>
    Buffer.from(elements.buffer, elements.byteOffset, elements.byteLength);
  let changed = 0;
  await rewriteSnapshot(good, LYING, (sections) =>
    sections.map((section) => {
      const found = others.get(section.name);
      if (!found || !isTaken(section) || bytesOf(found).equals(bytesOf(section))) return section;
      changed++;
      return found;
    }),
  );
  return changed;
}

test.each(['the sample', 'the sample without variants', 'a small one'])('%s is good', async (what) => {
  const without = what.endsWith('variants') ? 'grams,bitmaps' : undefined;
  const file = join(SCRATCH, 'sample.snapshot');
  if (what.startsWith('the')) await imported(SAMPLE, { file, without });
  else copyFileSync(GOOD, file);
  const phases = new Map<string, boolean>();
  const report = await verifyFile(file, ({ phase, done, total }) => phases.set(phase, done === total), true);
  expect(differencesIn(report)).toBeUndefined();
  expect(phases.get('comparing records')).toBe(true);
  expect([...report.comparisons].map(([name, { records }]) => ({ name, records }))).toEqual(report.collections);
  const lines = readFileSync(join(SAMPLE, 'observations.ndjson'), 'utf8').trim().split('\n');
  const ownUrls = lines.join('').split('"{base_url}').length - 1;
  if (what.startsWith('the')) expect(report.comparisons.get('observations')).toMatchObject({ records: 500, ownUrls });
});

test('nothing is compared where it is not asked for', async () => {
  expect((await verifyFile(GOOD, () => undefined)).comparisons.size).toBe(0);
});

describe('sections of another data set are found, whatever their kind:', () => {
  test.each(IN_SNAPSHOTS.map((group) => ({ group, kinds: Object.keys(group.kinds).join() })))(
    '$kinds',
    async ({ group }) => {
      const suffixes = Object.keys(group.kinds).map((key) => sectionName(group, key, ''));
      expect(await mixed((section) => isOf(suffixes, section))).toBeGreaterThan(0);
      expect(await faultOf(LYING)).toBeDefined();
    },
  );
});

describe('an index that agrees with itself and not with its records', () => {
  const part = (name: string) => (section: NamedSection) => section.name.startsWith(name);
  async function deepReport(isTaken: (section: NamedSection) => boolean): Promise<VerifyReport> {
    await mixed(isTaken);
    // Without --deep nothing is wrong with it.
    await verifyFile(LYING, () => undefined);
    return verifyFile(LYING, () => undefined, true);
  }

  test('is told by collection, id and field, the first ten and how many more', async () => {
    const lines = differencesIn(await deepReport(part('notes/text.')))!.split('\n');
    expect(lines.slice(0, 2)).toEqual([
      'notes 1: text is "cd1" in the index and "ab1" in the record',
      'notes 2: text is "cdcd2" in the index and "abab2" in the record',
    ]);
    // Each 90th text has no part that differs.
    expect(lines.slice(10)).toEqual(['... and 781 more differences']);
  });

  test('is told of links, of embedded rows and of their members', async () => {
    expect(differencesIn(await deepReport(part('phenomona/terms/label.')))).toContain(
      'phenomona 1: terms__label is "l1" in the index and "units" in the record',
    );
    expect(differencesIn(await deepReport(part('phenomona/names')))).toContain(
      'phenomona 1: the index has 1 elements of names, the record 0',
    );
    const link = (id: number): string => `{base_url}/api/v3/platforms/${id}/?format=api`;
    // With the platforms, whose ids decide where links lead.
    expect(differencesIn(await deepReport((one) => part('ipps/platform.')(one) || part('platforms/')(one)))).toBe(
      [2, 5]
        .map((id) => `ipps ${id}: platform is "${id === 2 ? 5 : 7}" in the index and "${link(id)}" in the record`)
        .join('\n'),
    );
  });

  test('ends the command with 1, the table and the sentences', async () => {
    await deepReport(part('phenomona/terms/label.'));
    const command = runCommand(['verify', '--deep', LYING]);
    expect((await command.ended).code).toBe(1);
    expect(command.out()).toMatch(/\nphenomona +10 +\d+ +45 +0 +30\n/);
    expect(command.out()).toMatch(/lying\.snapshot is wrong: its index differs from its records/);
    expect(command.err()).toMatch(/^catalogue-replica: phenomona 1: terms__label is "l1" in the index/m);
    expect(command.err()).toMatch(/^catalogue-replica: \.\.\. and 20 more differences$/m);
    expect(command.err()).not.toContain('    at ');
  });
});

test('records that are no JSON or no UTF-8 are told with their ids', async () => {
  for (const [from, to] of [
    ['"ab1"', '"ab\n"'],
    ['"ab1"', '"ab\u00ff"'],
  ] as const) {
    await rewriteSnapshot(GOOD, LYING, (sections) =>
      sections.map(({ name, elements }) => {
        if (name !== 'notes/records/0.bytes') return { name, elements };
        const text = Buffer.from(elements as Uint8Array).toString('latin1');
        return { name, elements: Uint8Array.from(Buffer.from(text.replace(from, to), 'latin1')) };
      }),
    );
    expect(await faultOf(LYING)).toBe('notes 1: the record is no JSON object');
  }
});

test('own URLs that the positions leave out are found', async () => {
  await rewriteSnapshot(GOOD, LYING, (sections) =>
    sections.map(({ name, elements }) => {
      if (name === 'ipps/records/0.links') return { name, elements: elements.slice(1) };
      if (name === 'ipps/records/0.linkEnds') return { name, elements: Uint32Array.from(elements, (end) => end - 1) };
      return { name, elements };
    }),
  );
  expect(await faultOf(LYING)).toBe('ipps 1: the index has 1 own URLs, the record 2');
});

const ODD: readonly unknown[] = [7, 7.5, '7', 'a', '2020-02-30T00:00:00', true, [], [7], {}, { 7: 'x', ob_id: [1e3] }];

test.each([
  ['bboxes', 'eastBoundLongitude'],
  ['results', 'volume'],
  ['results', 'oldDataPath'],
  ['platforms', 'location'],
  ['platforms', 'title'],
  ['licences', 'licenceClassifications'],
  ['rpis', 'relatedTo'],
  ['times', 'startTime'],
])('values of %s.%s that do not fit are in the index as they are in the records', async (name, field) => {
  const records = ODD.map((value, i) => JSON.stringify({ ob_id: i, [field]: value }));
  await snapshotOf(FULL, { [name]: records.join('\n') });
  expect(differencesIn(await verifyFile(FULL, () => undefined, true))).toBeUndefined();
  await snapshotOf(EMPTY, {
    [name]: records
      .toReversed()
      .map((record, i) => record.replace(/\d+/, `${i}`))
      .join('\n'),
  });
  await mixed(({ name: section }) => section.startsWith(`${name}/records/`), EMPTY, FULL);
  expect(await faultOf(LYING)).toContain(`${name} 0: `);
});

const linkTo = (name: string): string => `{base_url}/api/v3/${name}/1/?format=api`;
/** So many keys that what documents do not show has no values in the index. */
const MANY = Object.fromEntries(Array.from({ length: INFERRED_MAX + 1 }, (_, i) => [`key${i}`, i]));

test.each([
  ['values', 'projects', { title: 'a', status: 'b' }],
  ['numbers', 'bboxes', { eastBoundLongitude: 1.5, westBoundLongitude: 'west', bboxName: null }],
  ['links', 'rpis', { party: linkTo('parties'), priority: 5 }],
  ['lists', 'observationcollections', { title: 'a', member: [linkTo('observations'), linkTo('observations')] }],
  ['lists of texts', 'results', { oldDataPath: ['a', 'b'], volume: [7] }],
  ['embedded records', 'rpis', { relatedTo: { ob_id: 5, uuid: 'u', short_code: 'acq' } }],
])('documented %s beside too many keys are in the index', async (_, name, documented) => {
  const records = [{ ob_id: 1, ...documented, ...MANY }, { ob_id: 2 }, { ob_id: 3, ...documented }];
  await snapshotOf(FULL, { [name]: records.map((record) => JSON.stringify(record)).join('\n') });
  const report = await verifyFile(FULL, () => undefined, true);
  expect([differencesIn(report), report.comparisons.get(name)!.records]).toEqual([undefined, 3]);
});

test.each([
  ['a declared field', 'computations', 'inputDescription', null, 'is null in the index and "x" in the record'],
  ['a declared field beside too many keys', 'computations', 'inputDescription', null, 'is null in the index and "x"'],
  ['a declared list', 'computations', 'identifier_set', [], 'the index has 0 elements of identifier_set, the record 1'],
  ['a field of the data', 'notes', 'extra', null, 'extra is null in the index and "x" in the record'],
  ['an extra key of a declared collection', 'computations', 'extra', null, 'extra is null in the index and "x"'],
])('an empty column of %s is found where records have values', async (what, name, field, nothing, told) => {
  const something = nothing ? [linkTo('identifiers')] : 'x';
  const textOf = (value: unknown): Readonly<Record<string, string>> => ({
    [name]: JSON.stringify({ ob_id: 1, [field]: value, ...(what.endsWith('many keys') ? MANY : {}) }),
  });
  await snapshotOf(FULL, textOf(something));
  await snapshotOf(EMPTY, textOf(nothing));
  expect(await mixed(({ name: section }) => section.startsWith(`${name}/records/`), EMPTY, FULL)).toBeGreaterThan(0);
  await verifyFile(LYING, () => undefined);
  expect(await faultOf(LYING)).toContain(told);
});

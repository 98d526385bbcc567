// `verify --deep` imports a snapshot's records again. It accepts every file that an import writes and refuses every
// file whose sections disagree with its records, even if all checksums and digests are right.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { INFERRED_MAX } from '../../../data/import/shape.ts';
import { verifyFile } from '../../../data/store/verify.ts';
import { verifyDeep } from '../../../data/verifyDeep.ts';
import { BLOCKS, BLOCKS_TITLE, GROUPS, sectionName } from '../../../engine/snapshot/sections.ts';
import { runCommand } from '../../support/commandProcess.ts';
import { dataSetOf, imported, ndjsonOf, temporaryDirectory } from '../../support/dataSets.ts';
import { randomOf, RUN_SEED } from '../../support/random.ts';
import { times } from '../../support/ring.ts';
import {
  type Change,
  faultOf,
  replaced,
  rewriteSnapshot,
  SMALL_TEXTS,
  snapshotOf,
  swap,
  within,
} from '../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const SAMPLE = join(import.meta.dirname, '../../../data/sample');
const GOOD = join(SCRATCH, 'good.snapshot');
const LYING = join(SCRATCH, 'lying.snapshot');
const ROUNDS = times(5, 60);

const KINDS = GROUPS.filter((group) => group !== BLOCKS && group !== BLOCKS_TITLE).flatMap((group) =>
  Object.keys(group.kinds).map((key) => sectionName(group, key, '')),
);

/** Long enough for an n-gram index. */
const NOTES = Array.from({ length: 800 }, (_, i) => JSON.stringify({ ob_id: i, text: 'ab'.repeat(i % 90) + i }));

beforeAll(() => snapshotOf(GOOD, { ...SMALL_TEXTS, notes: NOTES.join('\n') }));

const linkTo = (name: string): string => `{base_url}/api/v3/${name}/1/?format=api`;
const ODD: readonly unknown[] = [7, 7.5, '7', 'a', '2020-02-30T00:00:00', true, [], [7], {}, { 7: 'x', ob_id: [1e3] }];
const FIELDS = ['location', 'title', 'extra', 'other'];
/** More keys than the import infers in a collection. */
const MANY = Object.fromEntries(Array.from({ length: INFERRED_MAX + 1 }, (_, i) => [`key${i}`, i]));

describe('verify --deep of a good snapshot', () => {
  test.each([undefined, 'grams', 'grams,bitmaps'])('accepts the sample, imported without %s', async (without) => {
    const { file, report } = await imported(SAMPLE, { file: join(SCRATCH, 'sample.snapshot'), without });
    const last = new Map<string, boolean>();
    const verified = await verifyDeep(file, ({ phase, done, total }) => last.set(phase, done === total));
    expect(verified.generation).toBe(report.generation);
    expect(verified.checks.at(-1)!.name).toBe('import again');
    expect(last.get('writing the records')).toBe(true);
  });

  test(`accepts values that do not fit, inferred fields and too many keys, in any order (seed ${RUN_SEED})`, async () => {
    const random = randomOf(RUN_SEED);
    const values = random.shuffled(FIELDS.flatMap((field) => ODD.map((value) => ({ [field]: value }))));
    const directory = dataSetOf(SCRATCH, {
      'platforms.ndjson': ndjsonOf(...values.map((value, i) => ({ ob_id: values.length - i, ...value }))),
      'projects.ndjson': ndjsonOf({ ob_id: 3, title: 'a' }, { ob_id: 1, status: 'b', ...MANY }, { ob_id: 2 }),
      'rpis.ndjson': ndjsonOf({ ob_id: 1, party: linkTo('parties'), seen: linkTo('rpis') }),
    });
    const { file } = await imported(directory, { created: '2024-05-06T07:08:09Z' });
    await verifyDeep(file, () => undefined);
  });
});

describe('verify --deep of a forged snapshot', () => {
  test.each(KINDS)('refuses any changed element of .%s', async (suffix) => {
    for (let round = 0; round < ROUNDS; round++) {
      const random = randomOf(RUN_SEED + round);
      let where = '';
      const damage: Change = (sections) => {
        const { name, elements } = random.pick(
          sections.filter((one) => one.elements.length > 0 && one.name.split('.').at(-1) === suffix),
        );
        const i = random.integer(0, elements.length);
        const most = elements instanceof Float64Array ? 2 ** 31 : 2 ** Math.min(31, 8 * elements.BYTES_PER_ELEMENT);
        const before = elements[i]!;
        while (Object.is(elements[i], before)) elements[i] = random.integer(0, random.pick([2, 128, most]));
        where = `seed ${RUN_SEED + round}: ${name}[${i}], ${before} became ${elements[i]}`;
        return sections;
      };
      await rewriteSnapshot(GOOD, LYING, damage);
      expect(await faultOf(LYING), where).toBeDefined();
    }
  });

  async function outcomeOf(change: Change): Promise<{ code: number | null; err: string; left: readonly string[] }> {
    await rewriteSnapshot(GOOD, LYING, change);
    // Without --deep, no fault is found.
    await verifyFile(LYING, () => undefined);
    const temporary = dataSetOf(SCRATCH, {});
    const command = runCommand(['verify', '--deep', LYING], { environment: { TMPDIR: temporary } });
    const { code } = await command.ended;
    return { code, err: command.err(), left: readdirSync(temporary) };
  }

  test('refuses a forged index with both generations, the sections and the remedy', async () => {
    const { code, err, left } = await outcomeOf(within('ipps/platform.targets', (targets) => swap(targets, 0, 1)));
    expect(code).toBe(1);
    expect(err).toMatch(/lying\.snapshot: its index is not the one that import makes of its records$/m);
    const [, file, again] = /the file is generation (\w{64}), its records import as (\w{64})$/m.exec(err)!;
    const generationOf = async (name: string): Promise<string> => (await verifyFile(name, () => undefined)).generation;
    expect([file, again]).toEqual([await generationOf(LYING), await generationOf(GOOD)]);
    expect(err).toMatch(/sections that differ: ipps\/platform\.targets$/m);
    expect(err).toMatch(/import the data set again/);
    expect(err).not.toContain('    at ');
    expect(left).toEqual([]);
  });

  test('refuses a record with one flipped bit, under a repaired checksum', async () => {
    const flipped = within('notes/records/0.bytes', (bytes) => void (bytes[bytes.length - 4]! ^= 1));
    const { code, err } = await outcomeOf(flipped);
    expect(code).toBe(1);
    expect(err).toMatch(/sections that differ: notes\/\S+, notes/);
  });

  test('refuses a record that is not JSON, with its collection and line', async () => {
    const broken = within('notes/records/0.bytes', (bytes) => void (bytes[0] = 0x20));
    const { code, err, left } = await outcomeOf(broken);
    expect(code).toBe(1);
    expect(err).toMatch(/lying\.snapshot: its records cannot be imported again:$/m);
    expect(err).toMatch(/notes\.ndjson:1: /);
    expect(left).toEqual([]);
  });

  test('refuses an index that lacks something of its records', async () => {
    const bitmaps = replaced('phenomona/terms/label.dense', (dense) => dense.slice(1));
    await rewriteSnapshot(GOOD, LYING, bitmaps);
    expect(await faultOf(LYING)).toBeDefined();
  });

  test('refuses a snapshot with a flipped byte by its checksum, before it imports anything', async () => {
    const bytes = readFileSync(GOOD);
    bytes[bytes.length >>> 1]! ^= 1;
    writeFileSync(LYING, bytes);
    expect(await faultOf(LYING)).toMatch(/checksum [0-9a-f]{8}, expected [0-9a-f]{8}$/);
  });
});

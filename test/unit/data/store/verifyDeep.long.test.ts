// `verify --deep` on snapshots with one element changed at random, in each kind of section that the table of them has:
// every such change is found. What is found of whole sections is in verifyDeepKinds.long.test.ts.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { BLOCKS, BLOCKS_TITLE, GROUPS, sectionName } from '../../../../engine/snapshot/sections.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { times } from '../../../support/ring.ts';
import { faultOf, rewriteSnapshot, SMALL_TEXTS, snapshotOf, type Change } from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const GOOD = join(SCRATCH, 'good.snapshot');
const LYING = join(SCRATCH, 'lying.snapshot');
const ROUNDS = times(30, 60);

const KINDS = GROUPS.filter((group) => group !== BLOCKS && group !== BLOCKS_TITLE).flatMap((group) =>
  Object.keys(group.kinds).map((key) => sectionName(group, key, '')),
);

/** Long enough for an n-gram index. */
const NOTES = Array.from({ length: 800 }, (_, i) => JSON.stringify({ ob_id: i, text: 'ab'.repeat(i % 90) + i }));

beforeAll(() => snapshotOf(GOOD, { ...SMALL_TEXTS, notes: NOTES.join('\n') }));

test.each(KINDS)('any element of .%s', async (suffix) => {
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

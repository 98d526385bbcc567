// The table of sections itself, and that each kind it has is checked: one damaged element is refused by `verify`.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  BLOCKS,
  BLOCKS_TITLE,
  GROUPS,
  linksOfRecords,
  sectionName,
  type SectionKind,
} from '../../../../engine/snapshot/sections.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { refusalOf, rewriteSnapshot, SMALL_TEXTS, snapshotOf, type NamedSection } from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const GOOD = join(SCRATCH, 'good.snapshot');
const LYING = join(SCRATCH, 'lying.snapshot');

const KINDS = GROUPS.flatMap((group) =>
  Object.keys(group.kinds).map((key) => ({ group, suffix: sectionName(group, key, '') })),
);

/** Long enough for an n-gram index. */
const NOTES = Array.from({ length: 800 }, (_, i) => JSON.stringify({ ob_id: i, text: 'ab'.repeat(i % 90) + i }));

beforeAll(() => snapshotOf(GOOD, { ...SMALL_TEXTS, notes: NOTES.join('\n') }));

test('no two kinds of sections have one suffix', () => {
  const suffixes = KINDS.map(({ suffix }) => suffix);
  expect(suffixes).toEqual([...new Set(suffixes)]);
});

test('sections bound parts of sections of their own group', () => {
  for (const { kinds } of GROUPS) {
    for (const { endsOf, startsOf } of Object.values<SectionKind>(kinds)) {
      for (const key of [endsOf, startsOf]) expect([undefined, ...Object.keys(kinds)]).toContain(key);
    }
  }
});

test('own URLs are found by the record bytes that they stand in', () => {
  const named = ['x/a.links', 'x/a.bytes', 'x/b.bytes', 'x/c.links', 'x/bytes.text', 'bytes'];
  const sections = named.map((name) => ({ name, offset: 0, bytes: 0, checksum: 0, digest: '', width: 1 as const }));
  expect([...linksOfRecords(sections)]).toEqual([[1, 0]]);
});

describe('one wrong element is refused with the place of its section:', () => {
  const inSnapshots = KINDS.filter(({ group }) => group !== BLOCKS && group !== BLOCKS_TITLE);
  test.each(inSnapshots)('$suffix', async ({ group, suffix }) => {
    let damaged = '';
    const damage = (sections: readonly NamedSection[]): readonly NamedSection[] => {
      const isOfKind = ({ name }: NamedSection): boolean =>
        group.path === '' ? name === suffix : name.endsWith(`.${suffix}`);
      const { name, elements } = sections.find(
        (one) => isOfKind(one) && one.elements.length > Number(suffix !== 'fitting'),
      )!;
      damaged = name.slice(0, name.length - suffix.length);
      elements[0] = elements instanceof Float64Array ? elements[0]! + 1 : ~elements[0]!;
      return sections;
    };
    await rewriteSnapshot(GOOD, LYING, damage);
    const refusal = await refusalOf(LYING);
    expect(refusal).toMatch(/^section .*, expected /);
    expect(refusal.startsWith(`section ${damaged}`), refusal).toBe(true);
  });
});

import { expect, test } from 'vitest';
import { GROUPS, findLinkSections, type SectionKind, sectionName } from '../../../../engine/snapshot/sections.ts';

const KINDS = GROUPS.flatMap((group) =>
  Object.keys(group.kinds).map((key) => ({ group, suffix: sectionName(group, key, '') })),
);

test('gives no two kinds of sections one suffix', () => {
  const suffixes = KINDS.map(({ suffix }) => suffix);
  expect(suffixes).toEqual([...new Set(suffixes)]);
});

test('bounds parts of sections by sections of the same group', () => {
  for (const { kinds } of GROUPS) {
    for (const { endsOf, startsOf } of Object.values<SectionKind>(kinds)) {
      for (const key of [endsOf, startsOf]) expect([undefined, ...Object.keys(kinds)]).toContain(key);
    }
  }
});

test('finds own URLs by the record bytes that contain them', () => {
  const named = ['x/a.links', 'x/a.bytes', 'x/b.bytes', 'x/c.links', 'x/bytes.text', 'bytes'];
  const sections = named.map((name) => ({ name, offset: 0, bytes: 0, checksum: 0, digest: '', width: 1 as const }));
  expect([...findLinkSections(sections)]).toEqual([[1, 0]]);
});

// The list of assumptions: numbered without gaps, each with a reason, each setting a real one, each citation of one
// that exists.
import { describe, expect, test } from 'vitest';
import { ASSUMPTIONS as FIRST_ASSUMPTIONS } from '../../../../engine/schema/assumptions.ts';
import { ENCODING_ASSUMPTIONS } from '../../../../engine/schema/encodingAssumptions.ts';
import { PAGE_ASSUMPTIONS } from '../../../../engine/schema/pageAssumptions.ts';
import { QUERY_ASSUMPTIONS } from '../../../../engine/schema/queryAssumptions.ts';
import { VIEW_ASSUMPTIONS } from '../../../../engine/schema/viewAssumptions.ts';
import { AUTHORITY_ASSUMPTIONS } from '../../../../server/authority/assumptions.ts';
import { PATH_ASSUMPTIONS } from '../../../../server/authority/x509/assumptions.ts';
import { SETTINGS } from '../../../../server/settings/declarations.ts';
import { SOAP_ASSUMPTIONS } from '../../../../server/soap/assumptions.ts';
import { projectFiles, readProjectFile } from '../../../support/sources.ts';

const ASSUMPTIONS = [
  ...FIRST_ASSUMPTIONS,
  ...QUERY_ASSUMPTIONS,
  ...PAGE_ASSUMPTIONS,
  ...VIEW_ASSUMPTIONS,
  ...ENCODING_ASSUMPTIONS,
];

test('assumptions are numbered from A1 on, no number and no topic has two', () => {
  const numbers = ASSUMPTIONS.map(({ id }) => Number(/^A([1-9]\d*)$/.exec(id)?.[1]));
  expect(numbers[0]).toBe(1);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(ASSUMPTIONS.length);
  expect(new Set(ASSUMPTIONS.map(({ topic }) => topic)).size).toBe(ASSUMPTIONS.length);
});

/** Lists of other areas go on at numbers of their own. */
const LISTS = [
  ['path validation', PATH_ASSUMPTIONS, 70],
  ['authority', AUTHORITY_ASSUMPTIONS, 80],
  ['SOAP service', SOAP_ASSUMPTIONS, 90],
] as const;

test.for(LISTS)('those of the %s are numbered without gaps, and no topic has two', ([, list, first]) => {
  expect(list.map(({ id }) => id)).toEqual(list.map((_, i) => `A${i + first}`));
  expect(new Set(list.map(({ topic }) => topic)).size).toBe(list.length);
});

const ALL = [...ASSUMPTIONS, ...LISTS.flatMap(([, list]) => list)];

describe.each(ALL)('$id, $topic', ({ choice, why, setting }) => {
  test('says what was chosen and why, in sentences, and names a real setting if any', () => {
    expect(choice).toMatch(/\.$/);
    expect(why).toMatch(/\.$/);
    if (setting !== undefined) expect(SETTINGS.map(({ name }) => name)).toContain(setting);
  });
});

test('every assumption that code cites exists', () => {
  const known = new Set(ALL.map(({ id }) => id));
  const cited = projectFiles()
    .filter((path) => /^(engine|data|workers|server|bench)\/.*\.ts$/.test(path))
    .flatMap((path) => [...readProjectFile(path).matchAll(/\bA[1-9]\d{0,2}\b/g)].map(([id]) => ({ path, id })));
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ id }) => !known.has(id))).toEqual([]);
});

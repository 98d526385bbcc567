// Columns that contradict FORMAT.md in snapshots whose checksums are all right: each is refused with its section.
// The rest of verification is tested in test/unit/data/store/verify.test.ts.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  refusalOf,
  replaced,
  rewriteSnapshot,
  SMALL_TEXTS,
  snapshotOf,
  swap,
  within,
  type Change,
  type NamedSection,
} from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const GOOD = join(SCRATCH, 'good.snapshot');
const LYING = join(SCRATCH, 'lying.snapshot');

beforeAll(() => snapshotOf(GOOD, SMALL_TEXTS));

async function refusalWith(change: Change): Promise<string> {
  await rewriteSnapshot(GOOD, LYING, change);
  return refusalOf(LYING);
}

describe('values out of order are refused:', () => {
  const label = (name: string): string => `phenomona/terms/label.${name}`;
  test.each([
    [
      'texts',
      within(label('text'), (text) => swap(text, 1, 3)),
      /^section phenomona\/terms\/label\.text: value 1 is not above the one before it/,
    ],
    [
      'equal texts',
      within(label('text'), (text) => void (text[3] = text[1]!)),
      /value 1 is not above the one before it/,
    ],
    [
      'ends of texts',
      within(label('textEnds'), (ends) => swap(ends, 0, 1)),
      /label\.textEnds: element 1 is 2, expected at least the 4 before it$/,
    ],
    [
      'the last end',
      within(label('textEnds'), (ends) => void ends[10]!++),
      /label\.textEnds: the last element is 26, expected 25$/,
    ],
    [
      'numbers that are not those of the texts',
      within('phenomona/terms/ob_id.numbers', (numbers) => void (numbers[3] = 3.5)),
      /ob_id\.numbers: element 3 is 3\.5, expected 3$/,
    ],
    [
      'instants that are not those of the texts',
      within('migrationproperties/modified.numbers', (numbers) => void (numbers[2] = 0)),
      /modified\.numbers: element 2 is 0, expected NaN$/,
    ],
    [
      'too few numbers',
      replaced('ipps/platform.numbers', (numbers) => numbers.slice(1)),
      /platform\.numbers: 2 elements, expected 3$/,
    ],
    [
      'ids',
      (sections: readonly NamedSection[]) => {
        within('ipps/ob_id.text', (text) => swap(text, 0, 1))(sections);
        return within('ipps/ob_id.numbers', (numbers) => swap(numbers, 0, 1))(sections);
      },
      /ob_id\.text: value 1 is not above/,
    ],
  ])('%s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });

  test('more ids than records', async () => {
    const fewer = (sections: readonly NamedSection[]): readonly NamedSection[] =>
      ['ends', 'linkEnds'].reduce(
        (all, part) => replaced(`ipps/records/0.${part}`, (one) => one.slice(0, 2))(all),
        sections,
      );
    expect(await refusalWith(fewer)).toMatch(/records\/0\.ends: the last element is/);
    const more = replaced('ipps/ob_id.text', () => Buffer.from('1259'));
    const ends = replaced('ipps/ob_id.textEnds', () => Uint32Array.of(1, 2, 3, 4));
    const numbers = replaced('ipps/ob_id.numbers', () => Float64Array.of(1, 2, 5, 9));
    expect(await refusalWith((sections) => numbers(ends(more(sections))))).toMatch(
      /ob_id\.textEnds: 4 elements, expected 3$/,
    );
  });
});

describe('posting lists and bitmaps that contradict the codes are refused:', () => {
  const label = (name: string): string => `phenomona/terms/label.${name}`;
  test.each([
    [
      'a code of another value',
      within(label('codes'), (codes) => swap(codes, 0, 4)),
      /label\.postings: row 0 at 0, expected the rows by code/,
    ],
    ['a code beyond null', within(label('codes'), (codes) => void (codes[0] = 99)), /label\.postings: row 0 at 0/],
    ['too few codes', replaced(label('codes'), (codes) => codes.slice(1)), /label\.codes: 39 elements, expected 40$/],
    [
      'postings that descend',
      within(label('postings'), (postings) => swap(postings, 20, 21)),
      /label\.postings: row \d+ at 21/,
    ],
    [
      'a row twice',
      within(label('postings'), (postings) => void (postings[21] = postings[20]!)),
      /label\.postings: row \d+ at 21/,
    ],
    [
      'a row that is none',
      within(label('postings'), (postings) => void (postings[0] = 4000)),
      /label\.postings: row 4000 at 0/,
    ],
    [
      'starts from 1',
      within(label('postingStarts'), (starts) => void (starts[0] = 1)),
      /postingStarts: element 0 is 1, expected 0$/,
    ],
    [
      'starts that descend',
      within(label('postingStarts'), (starts) => swap(starts, 3, 5)),
      /postingStarts: element 4 is/,
    ],
    [
      'a last start that is not the number of rows',
      within(label('postingStarts'), (starts) => void (starts[12] = 41)),
      /postingStarts: the last element is 41, expected 40$/,
    ],
    [
      'a start too few',
      replaced(label('postingStarts'), (starts) => starts.slice(0, 12)),
      /postingStarts: 12 elements, expected 13$/,
    ],
    [
      'a value without a row',
      within(label('postingStarts'), (starts) => void (starts[1] = 0)),
      /postingStarts: value 0 has no row, expected at least one$/,
    ],
    [
      'a dense code that is not',
      replaced(label('dense'), () => Uint32Array.of(0)),
      /label\.dense: element 0 is 0, expected 10$/,
    ],
    [
      'a dense code too many',
      replaced(label('dense'), () => Uint32Array.of(10, 11)),
      /label\.dense: 2 elements, expected 1$/,
    ],
    [
      'a bitmap too few',
      replaced(label('bitmaps'), () => new Uint32Array(0)),
      /label\.bitmaps: 0 elements, expected 2$/,
    ],
    [
      'a bitmap without a row',
      within(label('bitmaps'), (words) => void (words[0]! ^= 1 << 1)),
      /bitmap 0 without row 1, expected the rows of its code$/,
    ],
    [
      'a bitmap with a row of another code',
      within(label('bitmaps'), (words) => void (words[0]! ^= 1)),
      /bitmap 0 of 31 rows, expected 30$/,
    ],
    [
      'a bitmap with a bit behind the last row',
      within(label('bitmaps'), (words) => void (words[1]! ^= 1 << 30)),
      /bitmap 0 of 31 rows, expected 30$/,
    ],
  ])('%s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});

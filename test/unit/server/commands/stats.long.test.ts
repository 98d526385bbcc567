// The output of `stats` for a snapshot file and for the data set of that snapshot, with the real program.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
const STATES = ['citable', 'published', 'published', 'published'];
const data = dataSetOf(directory, {
  'observations.ndjson': STATES.map(
    (publicationState, i) =>
      `${JSON.stringify({ ob_id: i, uuid: `u${i}`, publicationState, title: i < 2 ? 'a' : 'b\n' })}\n`,
  ).join(''),
});

async function run(words: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const command = runCommand(['stats', ...words]);
  const { code } = await command.ended;
  return { code, out: command.out(), err: command.err() };
}

test('prints the same collections, memory and distributions for a file and its directory', async () => {
  const { file } = await imported(data, { file: join(directory, 'a.snapshot') });
  const [ofFile, ofDirectory] = [await run([file]), await run([data])];
  expect(ofFile.code).toBe(0);
  expect(ofFile.out).toBe(ofDirectory.out);
  expect(ofFile.out).toContain('collection    records  record bytes\nobservations        4');
  expect(ofFile.out).toContain(
    'observations.publicationState  records  share\n' +
      '"published"                          3  ###############\n' +
      '"citable"                            1  #####\n',
  );
  expect(ofFile.out).toContain('"b\\n" ');
  expect(ofFile.out).not.toContain('observations.uuid');
  expect(ofFile.out).toMatch(/\ngeneration [0-9a-f]{64}\n$/);
  const { memory, collections } = JSON.parse((await run([file, '--format', 'json'])).out) as {
    memory: Record<string, number>;
    collections: readonly { name: string; records: number; distributions: readonly unknown[] }[];
  };
  expect(Object.values(memory).every((bytes) => bytes >= 0)).toBe(true);
  expect(collections).toHaveLength(34);
  expect(collections.find(({ name }) => name === 'observations')).toMatchObject({
    records: 4,
    distributions: [
      {
        field: 'title',
        values: [
          { value: 'a', records: 2 },
          { value: 'b\n', records: 2 },
        ],
      },
      {
        field: 'publicationState',
        values: [
          { value: 'published', records: 3 },
          { value: 'citable', records: 1 },
        ],
      },
    ],
  });
}, 60_000);

test('shows start and end of long values, and omits fields with values that few records share', async () => {
  const line = (id: number): string => {
    const title = `${'x'.repeat(50)}\u{1f600}${'y'.repeat(50)} ${id < 2 ? 'one' : 'two'}`;
    return `${JSON.stringify({ ob_id: id, title, abstract: id < 3 ? `${id}` : '0' })}\n`;
  };
  const long = dataSetOf(temporaryDirectory(), { 'platforms.ndjson': [0, 1, 2, 3].map(line).join('') });
  const { out } = await run([long]);
  for (const end of ['one', 'two']) expect(out).toContain(`"${'x'.repeat(20)}" ... "${'y'.repeat(16)} ${end}"  `);
  expect(out).not.toContain('platforms.abstract');
}, 60_000);

test.each([
  [['/nothing/here'], 1, /there is no data at \/nothing\/here/],
  [[data, '--format', 'xml'], 2, /Allowed choices are table, json/],
  [[], 2, /missing required argument 'data'/],
] as const)('refuses %j with the reason', async (words, code, message) => {
  const ended = await run(words);
  expect(ended.code).toBe(code);
  expect(ended.err).toMatch(message);
});

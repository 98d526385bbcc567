// Values that do not fit documented types, and inferred types that change: the reports of commands, with the real
// program.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand, runServer } from '../../../support/commandProcess.ts';
import { followOnce } from '../../../support/crawls.ts';
import { dataSetOf, ndjsonOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { type PlainRecord, plainUpstreams } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const startUpstream = plainUpstreams();
const data = dataSetOf(directory, {
  'results.ndjson': ndjsonOf({ ob_id: 9, volume: 1 }, { ob_id: 5, volume: '7' }, { ob_id: 4, volume: [7.5] }),
  'observations.ndjson': ndjsonOf({ ob_id: 2, dataPublishedTime: '2020-02-30T00:00:00' }),
});
const VOLUME = 'results.volume: 2 values do not fit the type integer: "[7.5]" in record 4';
const TIME =
  'observations.dataPublishedTime: 1 value does not fit the type dateTime: "2020-02-30T00:00:00" in record 2';

async function run(words: readonly string[]): Promise<string> {
  const command = runCommand(words, { environment: { CATALOGUE_LOG_FORMAT: 'people' } });
  expect([(await command.ended).code, command.err()]).toEqual([0, '']);
  return command.out();
}

test('counts misfits by import with file and line, and by stats and serve in a snapshot and in a directory', async () => {
  const file = join(directory, 'a.snapshot');
  const imported = await run(['import', data, '-o', file]);
  const second = `"7" in record 5 (${data}/results.ndjson:2)`;
  expect(imported).toContain(`warning: ${VOLUME} (${data}/results.ndjson:3), ${second}\n`);
  expect(imported).toContain(`warning: ${TIME} (${data}/observations.ndjson:1)\n`);
  for (const place of [file, data]) {
    expect(await run(['stats', place])).toContain(`${TIME}\n${VOLUME}, "7" in record 5\n`);
    const { misfits } = JSON.parse(await run(['stats', place, '--format', 'json'])) as { misfits: readonly object[] };
    expect(misfits).toMatchObject([
      { collection: 'observations', field: 'dataPublishedTime', values: 1 },
      { collection: 'results', field: 'volume', type: 'integer', values: 2 },
    ]);
    const server = await runServer(['--data', place, '--threads', '1']);
    await server.stop();
    const output = server.out() + server.err();
    expect(output).toContain(`${TIME}\n`);
    expect(output).toContain(`${VOLUME}, "7" in record 5\n`);
  }
});

/** The warnings of a refresh. */
async function warned(url: string, folder: string): Promise<readonly string[]> {
  const command = followOnce(url, folder);
  expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
  const lines = command.out().trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as { level: string; message: string });
  return events.filter(({ level }) => level === 'warn').map(({ message }) => message);
}

test('warns of misfits in follow, and of the record that changes an inferred type', async () => {
  const notesWith = (size: unknown, tags: unknown): readonly PlainRecord[] => [
    { ob_id: 1, size: 5, day: '2020-01-01', tags: [1] },
    { ob_id: 2, size, day: null, tags },
  ];
  const collections: Record<string, readonly PlainRecord[]> = {
    notes: notesWith(6, [2]),
    results: [{ ob_id: 5, volume: '7' }],
  };
  const upstream = await startUpstream({ collections, tags: 'honest' });
  const folder = join(directory, 'followed');
  const misfit = 'results.volume: 1 value does not fit the type integer: "7" in record 5';
  expect(await warned(upstream.url, folder)).toEqual([`${misfit} (${folder}/catalogue/results.ndjson:1)`]);
  collections['notes'] = notesWith('six', ['x']);
  expect(await warned(upstream.url, folder)).toEqual([
    misfit,
    'notes.size: the inferred type changed from integer to text because of record 2',
    'notes.tags: the inferred type changed from scalars of integer to scalars of text because of record 2',
  ]);
  collections['notes'] = notesWith(7, [2]);
  expect(await warned(upstream.url, folder)).toEqual([
    misfit,
    'notes.size: the inferred type changed from text to integer because records were changed or deleted',
    'notes.tags: the inferred type changed from scalars of text to scalars of integer because records were changed or deleted',
  ]);
  collections['notes'] = notesWith({ bytes: 7 }, [2]);
  expect(await warned(upstream.url, folder)).toEqual([
    misfit,
    'notes.size: the inferred type changed from integer to no type because of record 2',
  ]);
});

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type CommandProcess, runCommand, runProgram } from '../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';

const directory = temporaryDirectory();
const running: CommandProcess[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.kill();
});

const DEFECT = new URL('../../support/defects/noThread.ts', import.meta.url).href;
// Enough records for the load of a snapshot to start threads.
const NOTES = Array.from({ length: 20_000 }, (_, i) => JSON.stringify({ ob_id: i, text: `a text of its own ${i}` }));

test.each(['thrown 1', 'thrown 2'])('ends an import if one of its threads is %s', async (words) => {
  const file = join(directory, `${words}.snapshot`);
  const data = dataSetOf(directory, { 'notes.ndjson': NOTES.join('\n') });
  const options = { environment: { NO_THREAD: words }, node: ['--import', DEFECT] };
  const command = runCommand(['import', data, '-o', file, '--threads', '2'], options);
  running.push(command);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.err()).toContain('descriptors, threads or memory ran out (no thread): give the process more');
  expect(existsSync(file)).toBe(false);
});

test.each(['thrown 2', 'emitted 2'])('ends the load of a snapshot if a thread is %s', async (words) => {
  const { file } = await imported(dataSetOf(directory, { 'notes.ndjson': NOTES.join('\n') }));
  const module = new URL('../../../data/store/load.ts', import.meta.url).href;
  const script = join(directory, 'loads.mjs');
  writeFileSync(
    script,
    `import { loadSnapshot } from ${JSON.stringify(module)};
    const how = { baseUrl: 'https://catalogue.example.org', threads: 3 };
    await loadSnapshot(${JSON.stringify(file)}, how).catch((error) => process.stdout.write(error.message + '\\n'));`,
  );
  const one = runProgram(process.execPath, ['--import', DEFECT, script], { environment: { NO_THREAD: words } });
  running.push(one);
  expect([await one.ended, one.err()]).toEqual([{ code: 0, signal: null }, '']);
  expect(one.out()).toBe('no thread\n');
});

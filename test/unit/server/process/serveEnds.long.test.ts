// The exit of the serve command and of an import: by signals, with much work in progress, and after a thread fails.
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../../../support/client.ts';
import { endedCommands } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { longProperties } from '../../../support/longProperties.ts';

const RECORDS = 100;
const directory = temporaryDirectory();
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(
    dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) }),
  ));
});

const { start, startServe, startServer } = endedCommands();

/** A page larger than all buffers, of which the client has read only the head. */
function begunPage(port: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/api/v3/migrationproperties/', agent: false }, resolve).once('error', reject);
  });
}

describe('a stopped server', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'finishes on %s a page that is being read, on both listeners, and exits with 0',
    async (signal) => {
      const server = await startServer('--data', snapshot);
      const pages = await Promise.all([server.port, server.http10Port].map(begunPage));
      server.signal(signal);
      await server.printed(/^draining /m);
      for (const page of pages) {
        expect(page.statusCode).toBe(200);
        expect((await json(page)) as object).toMatchObject({ count: RECORDS, results: { length: RECORDS } });
      }
      expect(await server.ended).toEqual({ code: 0, signal: null });
      expect(server.err()).toBe('');
    },
  );

  test('answers a running heavy query first', async () => {
    const server = await startServer('--data', snapshot);
    const client = clientOf(server.url);
    const answers = Array.from({ length: 8 }, () =>
      client.get('/api/v3/migrationproperties/?value__contains=needle7&limit=1'),
    );
    await client.get('/api/v3/');
    server.signal('SIGTERM');
    for (const answer of answers) expect(await answer).toMatchObject({ status: 200 });
    client.close();
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  test('keeps serving when its output has no reader, drains and exits with 0', async () => {
    const server = await startServer('--data', snapshot);
    server.deafen();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    server.signal('SIGINT');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  test('leaves no temporary file if it still imports', async () => {
    const temporary = mkdtempSync(join(directory, 'temporary-'));
    const data = dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(300) });
    const command = startServe(['--data', data, '--port', '0'], { environment: { TMPDIR: temporary } });
    while (readdirSync(temporary).length === 0 && existsSync(`/proc/${command.pid}`))
      await new Promise((resolve) => setImmediate(resolve));
    command.signal('SIGINT');
    expect(await command.ended).toEqual({ code: null, signal: 'SIGINT' });
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test('leaves no partial file of a stopped import', async () => {
  const data = dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(300) });
  const output = mkdtempSync(join(directory, 'output-'));
  const command = start(['import', data, '-o', join(output, 'a.snapshot')]);
  while (readdirSync(output).length === 0 && existsSync(`/proc/${command.pid}`))
    await new Promise((resolve) => setImmediate(resolve));
  command.signal('SIGTERM');
  expect(await command.ended).toEqual({ code: null, signal: 'SIGTERM' });
  expect(readdirSync(output)).toEqual([]);
});

test('exits with 70 and a stack if a serving thread fails while the data loads', async () => {
  const sabotage = join(directory, 'early.mjs');
  writeFileSync(
    sabotage,
    `import { isMainThread } from 'node:worker_threads';
     if (!isMainThread) throw new Error('sabotage');`,
  );
  const command = startServe(['--data', snapshot, '--port', '0'], { node: ['--import', sabotage] });
  expect(await command.ended).toEqual({ code: 70, signal: null });
  expect(command.err()).toMatch(/this is a bug .*\nError: sabotage\n +at /);
  expect(command.out()).not.toContain('listening');
});

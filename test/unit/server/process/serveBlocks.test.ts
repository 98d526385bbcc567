// Compressed records around the serve command as a process: made by import or by serve, kept, found again, done
// without.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { clientOf } from '../../../support/client.ts';
import { runCommand, runServer, type CommandProcess } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { longProperties } from '../../../support/longProperties.ts';

const BASE_URL = 'https://a.example.org/x';
const LIST = '/api/v3/migrationproperties/?limit=2';
const directory = temporaryDirectory();
const data = dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(100) });
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(data, { file: join(directory, 'served.snapshot') }));
});

const running: CommandProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.kill()));
});

async function served(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Awaited<ReturnType<typeof runServer>>> {
  const server = await runServer(words, { environment });
  running.push(server);
  return server;
}

function blocksIn(place: string): readonly string[] {
  return readdirSync(place).filter((name) => name.endsWith('.blocks'));
}

/**
 * How a page is sent to a client that takes gzip: what its entity tag ends with; its bytes must be those of identity.
 */
async function wayOf(url: string): Promise<string | undefined> {
  const client = clientOf(url);
  const plain = await client.get(LIST);
  const { bytes, headers } = await client.get(LIST, { 'accept-encoding': 'gzip' });
  client.close();
  expect(headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(bytes).equals(plain.bytes)).toBe(true);
  return headers['etag']?.slice(-3);
}

test('serve makes them once for a snapshot file and a base URL, and the next start finds them', async () => {
  const first = await served(['--data', snapshot, '--base-url', BASE_URL]);
  expect(first.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s, kept in .*served\.snapshot\..*\.blocks$/m);
  expect(await wayOf(first.url)).toBe('-s"');
  const second = await served(['--data', snapshot, '--base-url', BASE_URL]);
  expect(second.out()).toMatch(/^loaded compressed records \(.* kB\) in \d+\.\d s, of .*\.blocks$/m);
  expect(await wayOf(second.url)).toBe('-s"');
  expect(blocksIn(directory)).toHaveLength(1);
});

test('serve keeps none where the base URL has a free port in it, and none of a directory', async () => {
  const before = blocksIn(directory);
  for (const source of [snapshot, data]) {
    const server = await served(['--data', source]);
    expect(server.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s$/m);
    expect(await wayOf(server.url)).toBe('-s"');
  }
  expect(blocksIn(directory)).toEqual(before);
});

test('serve does without them where they can be written nowhere, says so, and compresses while clients wait', async () => {
  const server = await served(['--data', snapshot], { TMPDIR: join(directory, 'absent') });
  expect(server.out()).toMatch(/^records are not compressed in advance: cannot write to .*absent: set TMPDIR/m);
  expect(await wayOf(server.url)).toBe('-z"');
});

test('import makes them too where it is told the base URL', async () => {
  const output = dataSetOf(directory, {});
  const file = join(output, 'made.snapshot');
  const command = runCommand(['import', data, '-o', file, '--base-url', BASE_URL]);
  running.push(command);
  expect(await command.ended).toEqual({ code: 0, signal: null });
  const [name] = blocksIn(output);
  expect(command.out()).toContain(`${join(output, name!)}: the records compressed for ${BASE_URL}\n`);
  expect(existsSync(file) && name!.startsWith(basename(file))).toBe(true);
  const server = await served(['--data', file, '--base-url', BASE_URL]);
  expect(server.out()).toMatch(/^loaded compressed records /m);
});

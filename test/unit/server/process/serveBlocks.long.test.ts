// Compressed records of the serve command as a process: made by import or by serve, cached, reused, and dispensable.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { keepBlocks } from '../../../../data/blocks/blockStore.ts';
import { blocksName } from '../../../../data/distribution/target.ts';
import { clientOf } from '../../../support/client.ts';
import { type CommandProcess, runCommand, runServer } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { newFolder, published, wholePointer, startFollower } from '../../../support/distributions.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { swappedServer, type Version } from '../../../support/swaps.ts';
import { until } from '../../../support/waits.ts';
import { someOf } from '../../../support/ring.ts';

const BASE_URL = 'https://a.example.org/x';
const LASTING = ['--base-url', BASE_URL];
const LIST = '/api/v3/migrationproperties/?limit=9';
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
 * The end of the entity tag of a page for a client that accepts gzip. Its bytes must be those of the identity response.
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

test('makes compressed records once for a snapshot file and a base URL, and finds them at the next start', async () => {
  const first = await served(['--data', snapshot, '--base-url', BASE_URL]);
  expect(first.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s, kept in .*served\.snapshot\..*\.blocks$/m);
  expect(await wayOf(first.url)).toBe('-s"');
  const second = await served(['--data', snapshot, '--base-url', BASE_URL]);
  expect(second.out()).toMatch(/^loaded compressed records \(.* kB\) in \d+\.\d s, of .*\.blocks$/m);
  expect(await wayOf(second.url)).toBe('-s"');
  expect(blocksIn(directory)).toHaveLength(1);
});

test('stores no compressed records if the base URL has a free port in it, and none of a directory', async () => {
  const before = blocksIn(directory);
  for (const source of [snapshot, data]) {
    const server = await served(['--data', source]);
    expect(server.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s$/m);
    expect(await wayOf(server.url)).toBe('-s"');
  }
  expect(blocksIn(directory)).toEqual(before);
});

test('serves without compressed records if no place is writable, reports it, and compresses while clients wait', async () => {
  const server = await served(['--data', snapshot], { TMPDIR: join(directory, 'absent') });
  expect(server.out()).toMatch(/^records are not compressed in advance: cannot write to .*absent: set TMPDIR/m);
  expect(await wayOf(server.url)).toBe('-z"');
});

test('warns if it cannot store compressed records, and why, because each start makes them again', async () => {
  const { file } = await imported(data, { file: join(directory, 'unkept.snapshot') });
  await served(['--data', file, ...LASTING]);
  const kept = join(
    directory,
    blocksIn(directory).find((name) => name.startsWith('unkept'))!,
  );
  rmSync(kept);
  // A directory with files cannot be replaced.
  mkdirSync(join(kept, 'in the way'), { recursive: true });
  const server = runCommand(['serve', '--data', file, '--port', '0', ...LASTING, '--log-format', 'json']);
  running.push(server);
  await server.printed(/try: .*\n/);
  const lines = server.out().trimEnd().split('\n');
  const told = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(told.find(({ event }) => event === 'compressed')).toMatchObject({
    level: 'warn',
    message: expect.stringMatching(/ \(cannot (?:read|write) .*unkept\..*\.blocks.*\)$/) as string,
  });
});

test('compresses new data where it has changed, with the four records after it, and nothing on a rollback', async () => {
  const versions = await Promise.all(
    ['needle7"', 'pins"'].map(async (end, i): Promise<Version> => {
      const text = longProperties(20).replace('needle7"', end);
      const { file, report } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': text }));
      return { name: `${i}`, file, count: 20, generation: report.generation };
    }),
  );
  const server = await swappedServer(directory, versions[0]!, ['--threads', '1', '--gzip', 'stored', ...LASTING]);
  running.push(server);
  expect(server.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s, kept in /m);
  server.replace(versions[1]!);
  const order = async (target: string): Promise<unknown> =>
    JSON.parse((await server.admin.send({ method: 'POST', target })).body);
  expect(await order('/reload')).toMatchObject({ status: 'swapped', served: versions[1]!.generation });
  expect(server.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s, 5 of 20 newly, kept in /m);
  expect(await wayOf(server.url)).toBe('-s"');
  expect(await order('/rollback')).toMatchObject({ status: 'swapped', served: versions[0]!.generation });
  expect(server.out()).toMatch(/^loaded compressed records /m);
  expect(await wayOf(server.url)).toBe('-s"');
  server.admin.close();
});

const flipBit = (file: string): void => {
  const bytes = readFileSync(file);
  bytes[300]! ^= 1;
  writeFileSync(file, bytes);
};

const HARMS: readonly [string, (file: string) => void, RegExp][] = [
  ['are lost', rmSync, /^records are compressed here, since what was published cannot be had: .* is gone$/m],
  // A hard link is not hashed: its sections are verified when they are loaded.
  ['are damaged', flipBit, /^compressed records .*section .*: checksum .*, expected /m],
];
test.each(someOf(HARMS, 1))(
  'loads a generation whose published compressed records %s, and makes them itself',
  async (_, harm, why) => {
    const { folder, url } = newFolder(directory);
    const output = dataSetOf(directory, {});
    const { file } = await imported(data, { file: join(output, 'published.snapshot') });
    await keepBlocks(file, { baseUrl: BASE_URL, threads: 1 }, () => undefined);
    await published(url, { file });
    harm(join(folder, blocksName(wholePointer(folder)!.blocks[0]!)));
    const server = await startFollower(url, join(output, 'cache'), ['--gzip', 'stored', ...LASTING]);
    running.push(server);
    const [, address] = await server.printed(/listening on (http:\S+)\n/);
    expect(server.out()).toMatch(why);
    expect(server.out()).toMatch(/^compressed records \(.* kB\) in \d+\.\d s, kept in /m);
    expect(await wayOf(address!)).toBe('-s"');
  },
);

test('makes compressed records in import too if it has the base URL', async () => {
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

test('makes a snapshot appear with its compressed records', async () => {
  const place = join(directory, 'watched');
  mkdirSync(place);
  const seen = new Set<string>();
  const watcher = watch(place, (_, name) => void seen.add(name!));
  const command = runCommand(['import', data, '-o', join(place, 'a.snapshot'), '--base-url', BASE_URL]);
  expect(await command.ended).toEqual({ code: 0, signal: null });
  await until(() => seen.has('a.snapshot'));
  watcher.close();
  // In the order of their creation.
  expect([...seen].filter((name) => !name.includes('partial'))).toEqual([
    expect.stringMatching(/^a\.snapshot\.\w+-\w+\.blocks$/),
    'a.snapshot',
  ]);
  expect(readdirSync(place).filter((name) => name.includes('partial'))).toEqual([]);
});

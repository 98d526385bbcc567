// A replica that follows a catalogue: each refresh fetches and logs the changes; a failed one keeps the old generation.
// kills.long.test.ts kills it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { decodePointer, type Pointer } from '../../../../data/distribution/target.ts';
import { hashBaseUrl } from '../../../../data/blocks/blockStore.ts';
import { refresh, type RefreshResult } from '../../../../data/upstream/refresh.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { QUICK_CRAWL, differencesFrom, followOnce, loggedIn, QUICK } from '../../../support/crawls.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { type PlainRecord, type PlainUpstream, startPlainUpstream } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const running: PlainUpstream[] = [];
afterEach(async () => {
  for (const upstream of running.splice(0)) await upstream.close();
});

function newFolder(): string {
  return join(mkdtempSync(join(directory, 'follow-')), 'replica');
}

const BEFORE: readonly PlainRecord[] = [1, 2, 3].map((id) => ({ ob_id: id, text: `note ${id}` }));
const AFTER: readonly PlainRecord[] = [{ ob_id: 2, text: 'other' }, BEFORE[2]!, { ob_id: 4 }, { ob_id: 5 }];
const CHANGES = ['1 deleted', '2 changed', '4 created', '5 created'];

async function upstreamOf(notes: readonly PlainRecord[]) {
  const collections = { notes };
  const upstream = await startPlainUpstream({ collections, tags: 'honest' });
  running.push(upstream);
  return { upstream, collections };
}

async function refreshed(url: string, folder: string): Promise<string> {
  const command = followOnce(url, folder);
  expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
  return command.out();
}

test('fetches changes, logs them and reports each step, and builds nothing without changes', async () => {
  const { upstream, collections } = await upstreamOf(BEFORE);
  const folder = newFolder();
  expect(await refreshed(upstream.url, folder)).toMatch(/a crawl began, of everything.*\n.*crawled 3 records/);
  expect(await differencesFrom(folder, BEFORE)).toEqual([]);
  const snapshot = readFileSync(join(folder, 'catalogue.snapshot'));
  const again = await refreshed(upstream.url, folder);
  expect(again).toMatch(/a refresh began.*\n.*all collections compared by validators.*\n.*is unchanged; every page/);
  expect(again).not.toContain('built');
  expect(readFileSync(join(folder, 'catalogue.snapshot'))).toEqual(snapshot);
  collections.notes = AFTER;
  expect(await refreshed(upstream.url, folder)).toMatch(/is in place: 2 created, 1 changed, 1 deleted/);
  expect(await differencesFrom(folder, AFTER)).toEqual([]);
  expect(loggedIn(folder, 0)).toEqual(CHANGES);
});

test('reports why a refresh fails and leaves every file as it is', async () => {
  const { upstream } = await upstreamOf(BEFORE);
  const folder = newFolder();
  await refreshed(upstream.url, folder);
  const old = readFileSync(join(folder, 'catalogue.snapshot'));
  const log = readFileSync(join(folder, 'changes.log'));
  const broken = await startPlainUpstream({
    collections: { notes: AFTER },
    onRequest: ({ url, socket }) => void (url!.includes('notes') && socket.destroy()),
  });
  running.push(broken);
  // The folder of the first upstream, changed to claim that it follows the second.
  const notes = join(folder, 'follow.json');
  writeFileSync(notes, readFileSync(notes, 'utf8').replace(upstream.url, broken.url));
  const command = followOnce(broken.url, folder);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.out()).toMatch(/notes, page at offset 0 \(http.*tried 6 times/);
  expect(command.out()).toContain('"level":"warn"');
  expect(readFileSync(join(folder, 'catalogue.snapshot'))).toEqual(old);
  expect(readFileSync(join(folder, 'changes.log'))).toEqual(log);
  const other = followOnce(upstream.url, folder);
  expect(await other.ended).toEqual({ code: 2, signal: null });
  expect(other.err()).toContain(`follows ${broken.url}, not ${upstream.url}`);
});

test('reports a damaged log before any request, and keeps the served data', async () => {
  const { upstream } = await upstreamOf(BEFORE);
  const folder = newFolder();
  await refreshed(upstream.url, folder);
  const log = join(folder, 'changes.log');
  const bytes = readFileSync(log);
  bytes[20]! ^= 1;
  writeFileSync(log, bytes);
  const asked = upstream.requests.length;
  const command = followOnce(upstream.url, folder);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.out()).toContain(`${log}: damaged at byte 8`);
  expect(upstream.requests.length).toBe(asked);
});

test('removes what a killed run was building at once, and keeps partial output of other work', async () => {
  const { upstream } = await upstreamOf(BEFORE);
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  const [left, other] = ['next.snapshot', 'catalogue.snapshot'].map((name) =>
    join(folder, `${name}.partial-0123456789ab`),
  ) as [string, string];
  for (const file of [left, other]) writeFileSync(file, 'x');
  await refreshed(upstream.url, folder);
  expect([existsSync(left), existsSync(other)]).toEqual([false, true]);
});

test('publishes each new generation, and a failed publication the next time', async () => {
  const { upstream, collections } = await upstreamOf(BEFORE);
  const folder = newFolder();
  const target = join(directory, 'target');
  writeFileSync(target, 'no folder');
  const words = ['--every', '1s', '--publish-to', pathToFileURL(target).href, '--keep', '1', ...QUICK];
  const command = runCommand(['follow', upstream.url, '-o', folder, ...words]);
  const pointer = (): Pointer => decodePointer(readFileSync(join(target, 'current.json'), 'utf8'), target);
  await command.printed(/not published, which is tried again the next time: /);
  rmSync(target);
  const [, first] = await command.printed(/published generation ([0-9a-f]{64}), number 1/);
  expect(pointer().generation).toBe(first);
  collections.notes = AFTER;
  const [, second] = await command.printed(/number 1,[^]*published generation ([0-9a-f]{64}), number \d/);
  expect(second).not.toBe(first);
  expect(pointer().generation).toBe(second);
  // Nothing is published if nothing is new.
  const { refreshed, sequence, ...others } = pointer();
  await command.printed(/(?:is unchanged[^]*){2}/);
  await expect.poll(() => pointer().sequence, { timeout: 20_000 }).toBeGreaterThan(sequence);
  // Replicas learn the time of the poll, and nothing else.
  expect(pointer()).toMatchObject(others);
  expect(Date.parse(pointer().refreshed!)).toBeGreaterThan(Date.parse(refreshed!));
  expect(command.out().match(/"event":"published"/g)).toHaveLength(2);
  expect(command.out().match(/"event":"pruned"/g)).toHaveLength(2);
  command.signal('SIGINT');
  expect(await command.ended).toEqual({ code: 0, signal: null });
});

test('compresses new data for a base URL, so that no replica of it does', async () => {
  const { upstream, collections } = await upstreamOf(BEFORE);
  const folder = newFolder();
  const target = pathToFileURL(mkdtempSync(join(directory, 'target-'))).href;
  const words = ['--every', '1s', '--publish-to', target, '--base-url', 'https://replica.example.org', ...QUICK];
  const command = runCommand(['follow', upstream.url, '-o', folder, ...words]);
  await command.printed(/"event":"compressed"[^]*"event":"published"/);
  const serve = [
    'serve',
    '--from',
    target,
    '--port',
    '0',
    '--poll',
    '1s',
    '--admin-port',
    '0',
    '--log-format',
    'people',
  ];
  const cache = ['--cache', mkdtempSync(join(directory, 'cache-'))];
  const replica = runCommand([...serve, ...cache, '--base-url', 'https://replica.example.org']);
  await replica.printed(/loaded compressed records[^]*listening/);
  collections.notes = [BEFORE[0]!, { ob_id: 2, text: 'other' }, BEFORE[2]!];
  await command.printed(/records compressed for [^"]*, [12] of 3 newly/);
  await replica.printed(/is served now, after/);
  expect(replica.out()).not.toMatch(/^compressed records/m);
  for (const one of [command, replica]) {
    one.signal('SIGTERM');
    expect(await one.ended).toEqual({ code: 0, signal: null });
  }
});

test('publishes data that it cannot compress', async () => {
  const { upstream } = await upstreamOf(BEFORE);
  const folder = newFolder();
  const target = mkdtempSync(join(directory, 'target-'));
  const baseUrl = ['--base-url', 'https://replica.example.org'];
  await refreshed(upstream.url, folder);
  // Outdated blocks that cannot be removed.
  const address = hashBaseUrl(baseUrl[1]!);
  for (const name of ['0'.repeat(12), '1'.repeat(12)])
    mkdirSync(join(folder, `catalogue.snapshot.${name}-${address}.blocks`, 'held'), { recursive: true });
  const words = ['--once', '--publish-to', pathToFileURL(target).href, ...baseUrl, ...QUICK];
  const command = runCommand(['follow', upstream.url, '-o', folder, ...words]);
  expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
  expect(command.out()).toMatch(/compressing failed, [^]*"event":"published"/);
});

test('reuses unchanged data, and imports everything if the last generation is unusable', async () => {
  const titled = (title: string): readonly PlainRecord[] =>
    [1, 2, 3].map((id) => ({ ob_id: id, title: `${title} ${id}` }));
  const collections = { notes: BEFORE, observations: titled('one'), computations: titled('two') };
  const upstream = await startPlainUpstream({ collections, tags: 'honest' });
  running.push(upstream);
  const folder = newFolder();
  const file = join(folder, 'catalogue.snapshot');
  const next = async (): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const told = (await refreshed(upstream.url, folder)).trim().split('\n');
    const whole = await imported(join(folder, 'catalogue'), { file: join(directory, 'whole.snapshot') });
    expect(readFileSync(file).equals(readFileSync(whole.file))).toBe(true);
    return told.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  };
  await next();
  collections.observations = [collections.observations[0]!, { ob_id: 2, title: 'other' }, collections.observations[2]!];
  expect(await next()).toContainEqual(expect.objectContaining({ event: 'built', carried: 2, merged: 1, parsed: 1 }));
  collections.notes = AFTER;
  expect(await next()).toContainEqual(expect.objectContaining({ event: 'built', carried: 2, merged: 0, parsed: 4 }));
  const bytes = readFileSync(file);
  bytes[bytes.indexOf('two 3')]! ^= 1;
  writeFileSync(file, bytes);
  collections.notes = BEFORE;
  const told = await next();
  const reason = expect.stringMatching(/computations\/.* checksum/) as unknown;
  expect(told).toContainEqual(expect.objectContaining({ event: 'importedWhole', reason }));
  expect(told).toContainEqual(expect.objectContaining({ event: 'built', carried: 0, merged: 0, parsed: 9 }));
});

test('builds the snapshot again if another process has replaced it', async () => {
  const { upstream } = await upstreamOf(BEFORE);
  const folder = newFolder();
  await refreshed(upstream.url, folder);
  const other = dataSetOf(directory, { 'notes.ndjson': '{"ob_id":9}' });
  await imported(other, { file: join(folder, 'catalogue.snapshot') });
  expect(await refreshed(upstream.url, folder)).toContain('built');
  expect(await differencesFrom(folder, BEFORE)).toEqual([]);
});

test('gives an empty collection the fields of its first data, whatever is documented', async () => {
  const times: PlainRecord[] = [];
  const collections: Record<string, readonly PlainRecord[]> = { notes: BEFORE, times };
  const upstream = await startPlainUpstream({ collections, tags: 'honest' });
  running.push(upstream);
  const folder = newFolder();
  await refreshed(upstream.url, folder);
  collections['times'] = [{ ob_id: 1, startTime: '2011-12-08T19:13:24', endTime: 'ongoing' }];
  expect(await refreshed(upstream.url, folder)).not.toContain('importedWhole');
  const whole = await imported(join(folder, 'catalogue'), { file: join(directory, 'shown.snapshot') });
  expect(readFileSync(join(folder, 'catalogue.snapshot')).equals(readFileSync(whole.file))).toBe(true);
});

test('counts the time of the comparison from the start of the run that it resumed', async () => {
  let isBroken = true;
  const upstream = await startPlainUpstream({
    collections: { notes: BEFORE, times: [{ ob_id: 1 }] },
    // Its pages fail, its count does not.
    onRequest: ({ url, socket }) => void (isBroken && /times.*limit=(?!1&)/.test(url!) && socket.destroy()),
  });
  running.push(upstream);
  const folder = newFolder();
  const [beganMs, endedMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 3)];
  const refreshedAt = (ms: number): Promise<RefreshResult> => {
    const often = { everyMs: 1e6, sweepEveryMs: 1000 };
    const named = { base: upstream.url, folder, ...often, threads: 0, isLenient: false, nowMs: () => ms };
    return refresh({ ...QUICK_CRAWL, ...named }, { onStep: () => undefined, onProgress: () => undefined });
  };
  await expect(refreshedAt(beganMs)).rejects.toThrow('times');
  isBroken = false;
  const { ageMs, comparisons } = await refreshedAt(endedMs);
  expect(ageMs).toBe(endedMs - beganMs);
  expect(comparisons['notes']).toEqual({ compared: 'full', lastFullRead: '2026-01-01T00:00:00Z' });
});

test('does not repeat a full read whose data could not be imported', async () => {
  const observations: PlainRecord[] = [{ ob_id: 1, title: 17 }];
  const collections = { notes: BEFORE, observations };
  const upstream = await startPlainUpstream({ collections, tags: 'honest' });
  running.push(upstream);
  const folder = newFolder();
  for (const how of ['read in full', 'compared by validators']) {
    const command = followOnce(upstream.url, folder);
    expect(await command.ended).toEqual({ code: 1, signal: null });
    expect(command.out()).toContain('observations.ndjson:1: /title: expected text, got a number');
    expect(command.out()).toContain(`all collections ${how}`);
  }
  collections.observations = [{ ob_id: 1, title: 'one' }];
  expect(await refreshed(upstream.url, folder)).toMatch(/compared by validators[^]*refreshed: generation/);
});

test('imports no unchanged collection again for its skipped records, and is refused without --lenient', async () => {
  const observations = [
    { ob_id: 1, title: 17 },
    { ob_id: 2, title: 'two' },
  ];
  const collections = { notes: BEFORE, observations };
  const upstream = await startPlainUpstream({ collections, tags: 'honest' });
  running.push(upstream);
  const words = ['follow', upstream.url, '-o', newFolder(), '--once', ...QUICK];
  const lenient = async (): Promise<string> => {
    const command = runCommand([...words, '--lenient']);
    expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
    return command.out();
  };
  expect(await lenient()).toMatch(/"event":"built".*"carried":0,.*"skipped":1,/);
  for (const notes of [AFTER, BEFORE]) {
    collections.notes = notes;
    const told = await lenient();
    expect(told).toMatch(/"event":"built".*"carried":1,.*"skipped":1,/);
    expect(told).not.toContain('importedWhole');
  }
  // Immediately, not at the next change.
  const strict = runCommand(words);
  expect(await strict.ended).toEqual({ code: 1, signal: null });
  expect(strict.out()).toContain('observations.ndjson:1: /title: expected text, got a number');
});

test('applies the setting for nulls from the next refresh on, also to unchanged records', async () => {
  const computations = [
    { ob_id: 1, title: null },
    { ob_id: 2, title: 'two' },
  ];
  const upstream = await startPlainUpstream({ collections: { notes: BEFORE, computations }, tags: 'honest' });
  running.push(upstream);
  const folder = newFolder();
  const words = ['follow', upstream.url, '-o', folder, '--once', ...QUICK];
  const whole = join(directory, 'nulls.snapshot');
  const run = async (args: readonly string[]): Promise<void> => {
    const command = runCommand(args);
    expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
  };
  for (const flags of [['--lenient'], ['--lenient', '--take-nulls'], ['--lenient'], ['--take-nulls']]) {
    await run([...words, ...flags]);
    await run(['import', join(folder, 'catalogue'), '-o', whole, ...flags]);
    expect(readFileSync(join(folder, 'catalogue.snapshot')).equals(readFileSync(whole)), flags.join(' ')).toBe(true);
  }
  const strict = runCommand(words);
  expect(await strict.ended).toEqual({ code: 1, signal: null });
  expect(strict.out()).toContain('--take-nulls');
});

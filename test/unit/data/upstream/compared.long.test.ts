// The comparisons that `follow` makes with its upstream: it claims what it has checked and nothing more.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { differencesFrom, QUICK } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { type PlainRecord, type PlainUpstreamOptions, plainUpstreams } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();
const running: CommandProcess[] = [];
afterEach(async () => {
  for (const command of running.splice(0)) await command.kill();
});

type Event = Readonly<Record<string, unknown>>;

/** Notes that were last changed in January 2026. */
function notesOf(count: number): readonly PlainRecord[] {
  return Array.from({ length: count }, (_, id) => ({
    ob_id: id,
    title: `note ${id}`,
    lastUpdatedDate: dayOf(id % 10),
  }));
}

function undatedOf(count: number): readonly PlainRecord[] {
  return notesOf(count).map(({ ob_id: id, title }) => ({ ob_id: id, title }));
}

function dayOf(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
}

/** A folder that has followed an upstream once. `refresh` follows once more, and resolves to the events of that run. */
async function followed(options: Partial<PlainUpstreamOptions>) {
  const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(500) };
  const live: PlainUpstreamOptions = { collections, ...options };
  const upstream = await upstreamOf(live);
  const folder = join(mkdtempSync(join(directory, 'follow-')), 'replica');
  const refresh = async (...flags: readonly string[]): Promise<readonly Event[]> => {
    const command = runCommand(['follow', upstream.url, '-o', folder, '--once', ...QUICK, ...flags]);
    expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
    const lines = command.out().trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Event);
  };
  await refresh();
  return { collections, live, upstream, folder, refresh };
}

/** The kind of comparison that a refresh made of the notes. */
function comparedIn(events: readonly Event[]): unknown {
  const { collections } = events.find(({ event }) => event === 'refreshed') as { collections: Record<string, Event> };
  return collections['notes']!['compared'];
}

test('reads a collection in full if its count does not fit', async () => {
  const { collections, folder, refresh } = await followed({ heedsDates: true });
  collections['notes'] = [...collections['notes']!.slice(1), { ob_id: 900, title: 'new', lastUpdatedDate: dayOf(20) }];
  expect(comparedIn(await refresh())).toBe('full');
  expect(await differencesFrom(folder, collections['notes'])).toEqual([]);
});

test('uses a validator that the upstream starts to send from the next refresh on', async () => {
  const { live, refresh } = await followed({ collections: { notes: undatedOf(500) } });
  live.tags = 'honest';
  expect(comparedIn(await refresh())).toBe('full');
  expect(comparedIn(await refresh())).toBe('validators');
  live.tags = undefined;
  expect(comparedIn(await refresh())).toBe('full');
});

test.each<[string, Partial<PlainUpstreamOptions>, string]>([
  ['a change without a new date', { heedsDates: true }, 'dates'],
  ['a change despite an unchanged validator', { tags: 'frozen' }, 'validators'],
])('finds %s when --sweep-every has passed', async (_, options, compared) => {
  const { collections, folder, refresh } = await followed(options);
  const old = collections['notes']!;
  collections['notes'] = old.with(7, { ...old[7]!, title: 'changed' });
  const blind = await refresh();
  expect(comparedIn(blind)).toBe(compared);
  expect(await differencesFrom(folder, old)).toEqual([]);
  const full = await refresh('--sweep-every', '1s');
  expect(comparedIn(full)).toBe('full');
  expect(await differencesFrom(folder, collections['notes'])).toEqual([]);
});

test('reports at the start that a refresh takes longer than --every, with an estimate', async () => {
  const names = ['notes', 'times', 'ipps', 'mpos', 'rpis', 'parties', 'results', 'projects', 'platforms', 'licences'];
  const collections = Object.fromEntries(names.map((name) => [name, notesOf(3)]));
  const { url } = await upstreamOf({ collections });
  const folder = join(mkdtempSync(join(directory, 'follow-')), 'replica');
  const flags = ['--every', '1s', '--rate', '20', '--log-format', 'people', '--threads', '1'];
  const follow = runCommand(['follow', url, '-o', folder, ...flags]);
  running.push(follow);
  // The root view, a page of each collection, and two counts of each, one of them for the estimate.
  const first = /a refresh takes longer than --every 1 s: 31 requests take at least 2 s at --rate 20\ncrawled/;
  await follow.printed(first);
  const next = /a refresh began\na refresh takes longer than --every 1 s: 21 requests take at least 2 s at --rate 20\n/;
  await follow.printed(next);
});

test('counts the age of the data from the start of the comparison', async () => {
  const { refresh } = await followed({});
  const events = await refresh();
  const { seconds } = events.find(({ event }) => event === 'crawled') as { seconds: number };
  const { ageSeconds } = events.find(({ event }) => event === 'refreshed') as { ageSeconds: number };
  expect(ageSeconds).toBeGreaterThanOrEqual(seconds);
});

// Clocks that jump by a day, forth and back, under a publisher that follows a catalogue and under its replicas. Every
// generation is newer than the one before, nothing waits for a day, and nothing seems stale.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { generationsIn } from '../../../../data/upstream/changeLog.ts';
import { type CommandOptions, type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { QUICK } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { startFollower } from '../../../support/distributions.ts';
import { type PlainRecord, type PlainUpstream, startPlainUpstream } from '../../../support/plainUpstream.ts';

const MOVED_CLOCK = new URL('../../../support/defects/movedClock.ts', import.meta.url).href;

/** A clock, right at first. `options` are for the process that has it, and for its child processes. */
interface MovedClock {
  readonly options: CommandOptions;
  /** Sets the clock this far ahead of the time of day. */
  move(ms: number): void;
}

/** A clock whose file is in `parent`. */
function newClock(parent: string): MovedClock {
  const file = join(mkdtempSync(join(parent, 'clock-')), 'ms');
  const move = (ms: number): void => writeFileSync(file, String(ms));
  move(0);
  const NODE_OPTIONS = `${process.env['NODE_OPTIONS'] ?? ''} --import ${MOVED_CLOCK}`;
  return { options: { environment: { NODE_OPTIONS, MOVED_CLOCK: file } }, move };
}

const directory = temporaryDirectory();
const running: (CommandProcess | PlainUpstream)[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await ('kill' in one ? one.kill() : one.close());
});

const DAY_MS = 86_400_000;
const POLL = { timeout: 30_000, interval: 50 };

async function upstreamOf(notes: readonly PlainRecord[]) {
  const collections = { notes };
  const upstream = await startPlainUpstream({ collections });
  running.push(upstream);
  return { upstream, collections };
}

function notesOf(count: number): readonly PlainRecord[] {
  return Array.from({ length: count }, (_, i) => ({ ob_id: i + 1 }));
}

test('keeps a publisher on schedule with newer generations, and its replicas current, whatever clock jumps by a day', async () => {
  const { upstream, collections } = await upstreamOf(notesOf(3));
  const folder = mkdtempSync(join(directory, 'clocks-'));
  const to = pathToFileURL(join(folder, 'target')).href;
  const publisher = newClock(directory);
  const words = ['follow', upstream.url, '-o', join(folder, 'replica'), '--every', '1s', '--publish-to', to, ...QUICK];
  const follow = runCommand(words, publisher.options);
  running.push(follow);
  await follow.printed(/"event":"published"/);
  const clock = newClock(directory);
  const replica = await startFollower(to, join(folder, 'cache'), ['--max-stale', '1h'], clock.options);
  running.push(replica);
  const served = async (): Promise<string | undefined> => (await replica.status()).data?.generation;
  await expect.poll(served, POLL).toMatch(/^[0-9a-f]{64}$/);
  const created: string[] = [];
  for (const [i, days] of [1, -1, 0, -400].entries()) {
    publisher.move(days * DAY_MS);
    clock.move(-days * DAY_MS);
    const before = await served();
    collections.notes = notesOf(4 + i);
    await expect.poll(served, POLL).not.toBe(before);
    // The status shows the generation once all threads serve it.
    const taken = async (): Promise<unknown> => (await replica.status()).target.generation;
    await expect.poll(taken, POLL).toBe(await served());
    const { target } = await replica.status();
    created.push(target.created!);
    expect(target.staleSeconds).toBeLessThan(3600);
    expect(await replica.readyz()).toMatchObject({ code: 200, status: 'ready' });
  }
  expect(created).toEqual(created.toSorted());
  expect(new Set(created).size).toBe(created.length);
  expect(follow.out()).not.toContain('"level":"error"');
  const logged = generationsIn(join(folder, 'replica', 'changes.log'));
  expect(logged.map(({ at }, i) => Math.sign(at - (logged[i - 1]?.at ?? at)))).toEqual([0, 1, -1, 1, -1]);
  expect(logged.at(-1)?.generation).toBe((await replica.status()).target.generation);
});

test('reads a collection in full at once if the clock was ahead at the last full read', async () => {
  const dated = { text: 'old', lastUpdatedDate: '2026-01-01T00:00:00Z' };
  const collections = { notes: notesOf(3).map((note) => ({ ...note, ...dated })) };
  const upstream = await startPlainUpstream({ collections, heedsDates: true });
  running.push(upstream);
  const folder = join(mkdtempSync(join(directory, 'clocks-')), 'replica');
  const clock = newClock(directory);
  const once = async (): Promise<string> => {
    const command = runCommand(['follow', upstream.url, '-o', folder, '--once', ...QUICK], clock.options);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    return command.out();
  };
  clock.move(400 * DAY_MS);
  expect(await once()).toContain('"full":1');
  expect(await once()).toContain('"dates":1');
  clock.move(0);
  // No date shows the change.
  collections.notes = collections.notes.map((note) => ({ ...note, text: 'new' }));
  expect(await once()).toMatch(/"full":1[^]*"changed":3/);
  expect(await once()).toContain('"dates":1');
});

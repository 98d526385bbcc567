// A target in Debian's nats-server: what publishers store, what replicas load, and what a killed server keeps.
// natsCluster.long.test.ts tests a cluster of three.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PublishingTarget, snapshotName } from '../../../../data/distribution/target.ts';
import { pruneTarget } from '../../../../data/distribution/prune.ts';
import { publishSnapshot } from '../../../../data/distribution/publish.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { QUICK } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import {
  published,
  type Release,
  releaseOf,
  servesAtLast,
  WATCH_POLL,
  watchingReplicas,
} from '../../../support/distributions.ts';
import { managed, NATS_SERVER, natsServer, type NatsServer } from '../../../support/natsServers.ts';
import { startPlainUpstream } from '../../../support/plainUpstream.ts';
import { cutInto, afterFirst, altered, pointerOf, publishedAtLast, onlyWholeIn } from '../../../support/targetSuite.ts';
import { randomBytes } from '../../../support/random.ts';

const directory = temporaryDirectory();
const { signal } = new AbortController();
const DAY = 86_400_000;

const { replica, opened } = watchingReplicas(directory);

describe.skipIf(!hasProgram(NATS_SERVER))('a bucket of one server', () => {
  let server: NatsServer;
  let releases: readonly Release[];
  beforeAll(async () => {
    server = await natsServer(directory);
    await server.start();
    releases = await Promise.all([1, 2, 3, 4].map((day) => releaseOf(directory, day)));
  });
  afterAll(async () => server.kill());

  test('notifies a serving replica of each new generation, also after an absence', async () => {
    const [first, second, third] = releases as [Release, Release, Release];
    const url = server.bucket('served');
    const one = await replica(url);
    const reason = expect.stringMatching(/^waiting for the first .*: nothing is published there$/) as string;
    await expect.poll(() => one.readyz(), WATCH_POLL).toEqual({ code: 503, status: 'loading', reason });
    await published(url, first);
    await one.printed(/listening on/);
    await servesAtLast(one, first);
    await published(url, second);
    await servesAtLast(one, second);
    await server.kill();
    await one.printed(/not taken, generation .{12} goes on: nats:/);
    const { data, target: told } = await one.status();
    expect([data!.generation, told.lastFailure!.reason]).toEqual([
      second.generation,
      expect.stringMatching(/^nats:.*: /),
    ]);
    await expect(published(url, third)).rejects.toMatchObject({ code: 'network' });
    await server.start();
    await one.printed(/what is served is current again/);
    await published(url, third);
    await servesAtLast(one, third);
    expect(await onlyWholeIn(await opened(url), directory)).toMatchObject({
      sequence: 3,
      generation: third.generation,
    });
  });

  test('may hang for some seconds in the middle of a publish and of a fetch, and longer than any timeout', async () => {
    const text = randomBytes(1_500_000).toString('base64');
    const [first, third] = [releases[0]!, releases[2]!];
    const large = await releaseOf(directory, 2, text);
    const target = await opened(server.bucket('slow'));
    await published(target, first);
    const one = await replica(target.name);
    await servesAtLast(one, first);
    let pauses = 0;
    const pauseOnce = (after: number) => async (): Promise<void> => {
      if (pauses === after) return;
      pauses = after;
      server.pause();
      void wait(3000).then(() => server.resume());
    };
    const write: PublishingTarget['write'] = async (name, size, pieces) =>
      target.write(name, size, afterFirst(pieces, pauseOnce(1)));
    await publishedAtLast(altered(target, { write }), large);
    await servesAtLast(one, large);

    const read: PublishingTarget['read'] = async (name, offset, until) => {
      const found = await target.read(name, offset, until);
      return found && { ...found, pieces: afterFirst(found.pieces, pauseOnce(2)) };
    };
    await onlyWholeIn(altered(target, { read }), directory);
    expect(pauses).toBe(2);

    server.pause();
    const refused = await publishSnapshot({ file: third.file, target, allowRollback: false }, () => undefined).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'network', message: `${target.name}: no server answers in time` });
    expect((await one.status()).data!.generation).toBe(large.generation);
    expect(await one.readyz()).toMatchObject({ code: 200 });
    server.resume();
    await publishedAtLast(target, third);
    await servesAtLast(one, third);
    expect((await onlyWholeIn(target, directory)).sequence).toBe(3);
  });

  test('has nothing, and is not created, until something is published', async () => {
    const target = await opened(server.bucket('none'));
    expect(await target.readPointer(undefined, signal)).toBeUndefined();
    expect(await target.read('e'.repeat(64), 0, signal)).toBeUndefined();
    expect(await target.list()).toEqual([]);
    await expect(pruneTarget(target, 1, Date.now())).rejects.toThrow('nothing is published there');
    expect(server.told()).not.toContain('none');
    const command = runCommand(['serve', '--check', '--from', target.name]);
    expect((await command.ended).code).toBe(0);
    expect(command.out()).toContain(`data: nothing is published to ${target.name} yet`);
  });

  test('keeps each of many concurrent publications, or refuses the older one', async () => {
    const url = server.bucket('many');
    const same = await Promise.all([1, 2, 3].map((i) => releaseOf(directory, undefined, `text ${i}`)));
    const commands = same.map(({ file }) => runCommand(['publish', file, '--to', url]));
    const ends = await Promise.all(commands.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    const target = await opened(url);
    const pointer = await onlyWholeIn(target, directory);
    const all = [pointer, ...pointer.earlier].map(({ generation }) => generation);
    expect([pointer.sequence, all.toSorted()]).toEqual([3, same.map(({ generation }) => generation).toSorted()]);
    const [old, next] = releases as [Release, Release];
    const [older, newer] = await Promise.allSettled([published(url, old), published(url, next)]);
    expect(newer.status).toBe('fulfilled');
    if (older.status === 'rejected') expect(older.reason).toMatchObject({ code: 'refused' });
    expect(await pointerOf(target)).toMatchObject({
      generation: next.generation,
      sequence: older.status === 'fulfilled' ? 5 : 4,
    });
  });

  test('does not have an object with missing pieces, until it is written again', async () => {
    const [target, name, bytes] = [await opened(server.bucket('torn')), `${'d'.repeat(64)}.snapshot`, randomBytes(9)];
    await target.write(name, bytes.length, cutInto(bytes, 9));
    await managed(server, ({ streams }) => streams.purge('OBJ_torn', { filter: '$O.torn.C.>' }));
    expect(await target.has(name, bytes.length)).toBe(false);
    await target.write(name, bytes.length, cutInto(bytes, 9));
    expect(await target.has(name, bytes.length)).toBe(true);
  });

  test('accepts what follow --once finds, which then exits', async () => {
    const upstream = await startPlainUpstream({
      collections: { notes: [{ ob_id: 1, text: 'a note' }] },
      tags: 'honest',
    });
    try {
      const [url, folder] = [server.bucket('followed'), join(mkdtempSync(join(directory, 'follow-')), 'replica')];
      const command = runCommand(['follow', upstream.url, '-o', folder, '--once', '--publish-to', url, ...QUICK]);
      expect([await command.ended, command.err()]).toEqual([{ code: 0, signal: null }, '']);
      const { generation } = await onlyWholeIn(await opened(url), directory);
      expect(command.out()).toContain(`published generation ${generation}, number 1`);
    } finally {
      await upstream.close();
    }
  });

  test('is pruned of unused objects, and of those of a killed publisher', async () => {
    const url = server.bucket('pruned');
    for (const release of releases) await published(url, release);
    const publishing = await opened(url);
    void publishing.write(`${'e'.repeat(64)}.snapshot`, 1, stuck()).catch(() => undefined);
    const target = await opened(url);
    await expect.poll(async () => (await target.list()).length, WATCH_POLL).toBe(5);
    expect(await pruneTarget(target, 2, Date.now())).toMatchObject({ removed: 2, kept: 3 });
    await publishing.close();
    const pruned = await pruneTarget(target, 2, Date.now() + 2 * DAY);
    expect(pruned).toMatchObject({ removed: 1, kept: 2, removedBytes: expect.any(Number) as number });
    expect(pruned.removedBytes).toBeGreaterThan(1_000_000);
    expect((await pointerOf(target)).generation).toBe(releases[3]!.generation);
    expect((await target.list()).map(({ name }) => name)).toContain(snapshotName(await pointerOf(target)));
  });
});

async function* stuck(): AsyncGenerator<Uint8Array> {
  yield randomBytes(3_000_000);
  await wait(DAY, undefined, { ref: false });
}

// A target in a cluster of three of Debian's nats-servers: nothing is lost if one of them is killed, and all replicas
// agree afterwards. natsTarget.long.test.ts tests a single server.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchObject } from '../../../../data/distribution/fetch.ts';
import { snapshotName } from '../../../../data/distribution/target.ts';
import { pruneTarget } from '../../../../data/distribution/prune.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { releaseOf, servesAtLast, WATCH_POLL, watchingReplicas } from '../../../support/distributions.ts';
import { leaderOf, NATS_SERVER, natsCluster, type NatsServer } from '../../../support/natsServers.ts';
import {
  afterFirst,
  altered,
  doneAtLast,
  pointerOf,
  publishedAtLast,
  onlyWholeIn,
} from '../../../support/targetSuite.ts';
import { randomBytes } from '../../../support/random.ts';
import { until } from '../../../support/waits.ts';

const directory = temporaryDirectory();
const { signal } = new AbortController();
const DAY = 86_400_000;

const { replica, opened } = watchingReplicas(directory);

describe.skipIf(!hasProgram(NATS_SERVER))('a bucket of three servers', () => {
  let servers: readonly NatsServer[] = [];
  beforeAll(async () => {
    servers = await natsCluster(directory);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
  });

  /** Kills the leader of the bucket once all servers have its data. Returns the killed server. */
  async function killLeader(bucket: string): Promise<NatsServer> {
    let leader: NatsServer | undefined;
    await until(async () => {
      const name = await leaderOf(servers[0]!, bucket);
      leader = servers.find((server) => server.name === name);
      return leader !== undefined;
    });
    await leader!.kill();
    return leader!;
  }

  test('loses nothing if a server is killed in the middle of a publish and of a fetch', async () => {
    const text = randomBytes(1_500_000).toString('base64');
    const [first, large, last] = [
      await releaseOf(directory, 1),
      await releaseOf(directory, 2, text),
      await releaseOf(directory, 3, `${text}.`),
    ];
    const url = servers[0]!.bucket('three');
    const target = await opened(url, { nats: { replicas: 3 } });
    await publishedAtLast(target, first);
    const followers = await Promise.all(servers.map((server) => replica(server.bucket('three'))));
    for (const follower of followers) await servesAtLast(follower, first);

    let killed: NatsServer | undefined;
    const harmed = altered(target, {
      write: async (name, size, pieces) =>
        target.write(
          name,
          size,
          afterFirst(pieces, async () => (killed ??= await killLeader('three'))),
        ),
    });
    await publishedAtLast(harmed, large);
    expect(killed).toBeDefined();
    for (const follower of followers) await servesAtLast(follower, large);
    await killed!.start();
    await expect.poll(() => leaderOf(servers[0]!, 'three'), WATCH_POLL).toBeDefined();

    await publishedAtLast(target, last);
    const pointer = await pointerOf(target);
    const connected = await opened(servers[1]!.bucket('three'));
    const torn = altered(connected, {
      read: async (name, offset, until) => {
        const found = await connected.read(name, offset, until);
        return found && { ...found, pieces: afterFirst(found.pieces, async () => servers[1]!.kill()) };
      },
    });
    const file = join(mkdtempSync(join(directory, 'fetched-')), 'snapshot');
    const fetch = { target: torn, name: snapshotName(pointer), stored: pointer, file, signal, stallMs: 30_000 };
    // A fetch that fails while the others choose a leader is resumed.
    const fetched = async (): Promise<unknown> =>
      fetchObject(fetch).then(
        () => 'whole',
        (error: unknown) => String(error),
      );
    await expect.poll(fetched, WATCH_POLL).toBe('whole');
    for (const follower of followers) await servesAtLast(follower, last);
    await servers[1]!.start();
    await expect.poll(() => leaderOf(servers[0]!, 'three'), WATCH_POLL).toBeDefined();
    const statuses = await Promise.all(followers.map((follower) => follower.status()));
    expect(new Set(statuses.map(({ target: { sequence } }) => sequence)).size).toBe(1);
    await doneAtLast(() => pruneTarget(target, 32, Date.now() + 2 * DAY));
    const whole = await onlyWholeIn(target, directory);
    const generations = [whole, ...whole.earlier].map(({ generation }) => generation);
    expect(generations).toEqual([last, large, first].map(({ generation }) => generation));
    expect(whole.sequence).toBe(3);
  });
});

// Replicas and publishers of a target that a test has open, ended after each test. Polls of a day: whatever a replica
// learns, the target told it.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import type { PublishingTarget, TargetAccess } from '../../data/distribution/target.ts';
import type { CommandOptions } from './commandProcess.ts';
import type { Release } from './distributions.ts';
import { type Follower, type FollowerStatus, startFollower } from './followers.ts';

/** How long is waited for what a cluster has to settle first. */
export const WATCH_POLL = { timeout: 60_000, interval: 100 };
/** The same for what is fetched too: a read that hangs is found out within 60 s, and done anew. */
const FETCH_POLL = { ...WATCH_POLL, timeout: 150_000 };

/** What starts replicas with caches of their own in a directory, and opens targets. */
export interface WatchingReplicas {
  replica(from: string, words?: readonly string[], options?: CommandOptions): Promise<Follower>;
  opened(url: string, access?: TargetAccess): Promise<PublishingTarget>;
}

/** For the tests of a file, with its directory. */
export function watchingReplicas(directory: string): WatchingReplicas {
  const replicas: Follower[] = [];
  const targets: PublishingTarget[] = [];
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.kill()));
    await Promise.all(targets.splice(0).map((target) => target.close()));
  });
  return {
    replica: async (from, words = [], options = {}) => {
      const cache = join(mkdtempSync(join(directory, 'cache-')), 'cache');
      const started = await startFollower(from, cache, ['--poll', '1d', ...words], options);
      replicas.push(started);
      return started;
    },
    opened: async (url, access = {}) => {
      const target = await openPublishingTarget(url, access);
      targets.push(target);
      return target;
    },
  };
}

/** Waits until a replica serves a generation. Where it does not, what it has told stands in the failure. */
export async function servesAtLast(server: Follower, { generation }: Pick<Release, 'generation'>): Promise<void> {
  let status: FollowerStatus | undefined;
  const served = async (): Promise<string | undefined> => {
    status = await server.status();
    return status.data?.generation;
  };
  try {
    await expect.poll(served, FETCH_POLL).toBe(generation);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${JSON.stringify(status)}\n${server.out()}${server.err()}`, {
      cause: error,
    });
  }
}

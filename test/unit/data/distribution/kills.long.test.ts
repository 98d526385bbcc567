// Publishers, and servers that subscribe, killed at steps that change the file system: at six of them in CI, at all of
// them in the nightly run.
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  newFolder,
  published,
  type Release,
  releaseOf,
  strayNames,
  wholePointer,
  cacheOf,
  type Follower,
  type FollowerStatus,
  serveFolder,
  startFollower,
} from '../../../support/distributions.ts';
import { killedAtStep, stepsOf, abandonAll } from '../../../support/killer.ts';
import { someSteps } from '../../../support/ring.ts';
import { until } from '../../../support/waits.ts';

/** The number of steps of publishing one generation over another. */
async function stepsOfPublish(parent: string, old: Release, next: Release): Promise<number> {
  const { url } = newFolder(parent);
  await published(url, old);
  return stepsOf(runCommand(['publish', next.file, '--to', url], killedAtStep(0)));
}

/** Kills a publisher at a step, checks what it left, and publishes again. */
async function killedPublish(parent: string, old: Release, next: Release, step: number): Promise<void> {
  const { folder, url } = newFolder(parent);
  await published(url, old);
  await runCommand(['publish', next.file, '--to', url], killedAtStep(step)).ended;
  const left = wholePointer(folder)!;
  expect([old.generation, next.generation]).toContain(left.generation);
  abandonAll(folder);
  await published(url, next);
  expect(wholePointer(folder)).toMatchObject({ generation: next.generation, sequence: 2 });
  // If the publisher is killed after the rename, its claim may stay until another generation follows.
  expect(strayNames(folder).filter((name) => name !== 'current.2.json')).toEqual([]);
}

/** Kills of a server that follows a target. `steps` counts those of its fetch and its swap. */
interface FollowerKills {
  readonly steps: number;
  /**
   * Kills a server while it replaces the old generation by the new one, and checks what it left. The next server starts
   * from either, loads the new one, and leaves the cache whole.
   */
  killAt(step: number): Promise<void>;
}

/** Publishes one generation over another. Each killed server has a copy of a cache with the old one. */
async function followerKills(parent: string, old: Release, next: Release): Promise<FollowerKills> {
  const { folder, url: folderUrl } = newFolder(parent);
  // Over HTTP, because a folder target needs one step only: the cache has hard links.
  const { url, close } = await serveFolder(folder);
  onTestFinished(close);
  const oldCache = join(mkdtempSync(join(parent, 'cache-')), 'cache');
  await published(folderUrl, old);
  const first = await startFollower(url, oldCache);
  await servedBy(first, old);
  await first.kill();
  await published(folderUrl, next);
  const copied = (): string => {
    const cache = join(mkdtempSync(join(parent, 'cache-')), 'cache');
    cpSync(oldCache, cache, { recursive: true });
    return cache;
  };
  const started = (cache: string, step: number): CommandProcess =>
    runCommand(
      ['serve', '--from', url, '--cache', cache, '--port', '0', '--threads', '1', '--gzip', 'live'],
      killedAtStep(step),
    );
  const counted = started(copied(), 0);
  await counted.printed(new RegExp(`generation ${next.generation.slice(0, 12)} is served now`));
  counted.signal('SIGTERM');
  return {
    steps: await stepsOf(counted),
    killAt: async (step) => {
      const cache = copied();
      expect(await started(cache, step).ended).toEqual({ code: null, signal: 'SIGKILL' });
      abandonAll(cache);
      const last = await startFollower(url, cache);
      const [, loaded] = await last.printed(/^loaded .* generation ([0-9a-f]{12})$/m);
      expect([old.generation.slice(0, 12), next.generation.slice(0, 12)]).toContain(loaded);
      await servedBy(last, next);
      expect((await last.status()).target.kept).toEqual([next.generation, old.generation]);
      await last.kill();
      expect(cacheOf(cache)).toMatchObject({ snapshots: { length: 2 }, others: ['cache.json'] });
    },
  };
}

async function servedBy(follower: Follower, { generation }: Release): Promise<void> {
  // The admin port responds before the cache is open.
  const status: () => Promise<Partial<FollowerStatus>> = follower.status;
  await until(async () => (await status()).target?.generation === generation);
}

const KILLS = 6;
const directory = temporaryDirectory();

test('leaves the old generation or the new one if a publisher is killed at a step, and the next run finishes', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const steps = await stepsOfPublish(directory, old, next);
  expect(steps).toBeGreaterThan(10);
  for (const step of someSteps(steps, KILLS)) await killedPublish(directory, old, next, step);
});

test('leaves a usable cache if a subscribing server is killed at a step, and the next one serves the new data', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const { steps, killAt } = await followerKills(directory, old, next);
  for (const step of someSteps(steps - 1, KILLS)) await killAt(step);
});

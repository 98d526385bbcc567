// Publishers that are killed right before a call that changes the file system, and what they leave: the old generation
// or the new one, and a next run that ends the work.
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type CommandProcess, runCommand } from './commandProcess.ts';
import { cacheOf, type Follower, type FollowerStatus, serveFolder, startFollower } from './followers.ts';
import { abandonAll } from './locks.ts';
import { until } from './waits.ts';
import { newFolder, published, type Release, strayNames, wholePointer } from './distributions.ts';

const KILLED_AT_STEP = new URL('./defects/killedAtStep.ts', import.meta.url).href;

/** A command that is killed at a step, as killedAtStep.ts has it. */
function killedCommand(words: readonly string[], step: number): CommandProcess {
  return runCommand(words, { environment: { KILLED_AT_STEP: String(step) }, node: ['--import', KILLED_AT_STEP] });
}

/** How many steps it takes to publish one generation over another. */
export async function stepsOfPublish(parent: string, old: Release, next: Release): Promise<number> {
  const { url } = newFolder(parent);
  await published(url, old);
  const command = killedCommand(['publish', next.file, '--to', url], 0);
  const [, steps] = await command.printed(/steps: (\d+)\n/);
  return Number(steps);
}

/** Kills a publisher at a step, looks at what it left, and publishes again. */
export async function killedPublish(parent: string, old: Release, next: Release, step: number): Promise<void> {
  const { folder, url } = newFolder(parent);
  await published(url, old);
  await killedCommand(['publish', next.file, '--to', url], step).ended;
  const left = wholePointer(folder)!;
  expect([old.generation, next.generation]).toContain(left.generation);
  abandonAll(folder);
  await published(url, next);
  expect(wholePointer(folder)).toMatchObject({ generation: next.generation, sequence: 2 });
  // Its claim may be left where it was killed behind the rename, until another generation follows.
  expect(strayNames(folder).filter((name) => name !== 'current.2.json')).toEqual([]);
}

/** A server that follows a target, to be killed: how many steps its fetch and its swap have, and a kill at one. */
export interface FollowerKills {
  readonly steps: number;
  /**
   * Kills one that has the old generation and takes the new one, and looks at what it left: a next one starts from
   * either, takes the new one, and leaves the cache whole.
   */
  killAt(step: number): Promise<void>;
}

/** Publishes one generation over another, which a cache has by then: each kill is of a server with a copy of it. */
export async function followerKills(parent: string, old: Release, next: Release): Promise<FollowerKills> {
  const { folder, url: folderUrl } = newFolder(parent);
  // Over HTTP, because from a folder the cache has hard links in one step.
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
    killedCommand(['serve', '--from', url, '--cache', cache, '--port', '0', '--threads', '1', '--gzip', 'live'], step);
  const counted = started(copied(), 0);
  await counted.printed(new RegExp(`generation ${next.generation.slice(0, 12)} is served now`));
  counted.signal('SIGTERM');
  const [, steps] = await counted.printed(/steps: (\d+)\n/);
  return {
    steps: Number(steps),
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
  // The admin port answers before the cache is open.
  const status: () => Promise<Partial<FollowerStatus>> = follower.status;
  await until(async () => (await status()).target?.generation === generation);
}

// Publishers that are killed right before a call that changes the file system, and what they leave: the old generation
// or the new one, and a next run that ends the work.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type CommandProcess, runCommand } from './commandProcess.ts';
import { cacheOf, type Follower, startFollower } from './followers.ts';
import { until } from './watchedServer.ts';
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
  await published(url, next);
  expect(wholePointer(folder)).toMatchObject({ generation: next.generation, sequence: 2 });
  // Its claim may be left where it was killed behind the rename, until another generation follows.
  expect(strayNames(folder).filter((name) => name !== 'current.2.json')).toEqual([]);
}

/**
 * Kills a server that follows a folder at a step of its fetch or swap, and looks at what it left: a next one starts
 * from the old generation or the new one, takes the new one, and leaves the cache whole. Without a step it is ended
 * when it serves the new one; answers how many steps there were.
 */
export async function killedFollower(
  parent: string,
  old: Release,
  next: Release,
  step: number | undefined,
): Promise<number> {
  const { url } = newFolder(parent);
  const cache = join(mkdtempSync(join(parent, 'cache-')), 'cache');
  await published(url, old);
  const first = await startFollower(url, cache);
  await servedBy(first, old);
  await first.kill();
  await published(url, next);
  const steps = { environment: { KILLED_AT_STEP: String(step ?? 0) }, node: ['--import', KILLED_AT_STEP] };
  const words = ['serve', '--from', url, '--cache', cache, '--port', '0', '--threads', '1', '--gzip', 'live'];
  const killed = runCommand(words, steps);
  if (step === undefined) {
    await killed.printed(new RegExp(`generation ${next.generation.slice(0, 12)} is served now`));
    killed.signal('SIGTERM');
    const [, count] = await killed.printed(/steps: (\d+)\n/);
    return Number(count);
  }
  expect(await killed.ended).toEqual({ code: null, signal: 'SIGKILL' });
  const last = await startFollower(url, cache);
  const [, loaded] = await last.printed(/^loaded .* generation ([0-9a-f]{12})$/m);
  expect([old.generation.slice(0, 12), next.generation.slice(0, 12)]).toContain(loaded);
  await servedBy(last, next);
  expect((await last.status()).target.kept).toEqual([next.generation, old.generation]);
  await last.kill();
  expect(cacheOf(cache)).toMatchObject({ snapshots: { length: 2 }, others: ['cache.json'] });
  return step;
}

async function servedBy(follower: Follower, { generation }: Release): Promise<void> {
  await until(async () => (await follower.status()).target.generation === generation);
}

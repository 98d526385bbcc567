// Targets of which a test harms something, and what has to be in them afterwards.
import { expect } from 'vitest';
import { decodePointer, objectsOf, type Pointer, type PublishingTarget } from '../../data/distribution/target.ts';
import { publishSnapshot } from '../../data/distribution/publish.ts';
import type { Release } from './distributions.ts';
import { wholeIn as fetchedFrom } from './targetSuite.ts';
import { WATCH_POLL } from './watchingReplicas.ts';

const { signal } = new AbortController();

/** The pointer of a target in which something is published. */
export async function pointerOf(target: PublishingTarget): Promise<Pointer> {
  const found = await target.readPointer(undefined, signal);
  if (found === undefined || found === 'unchanged') throw new Error('nothing is published');
  return decodePointer(found.text, target.name);
}

/** The pointer, after its snapshot was fetched whole into `parent`. The target has no object that no pointer names. */
export async function wholeIn(target: PublishingTarget, parent: string): Promise<Pointer> {
  const pointer = (await fetchedFrom(target, parent))!;
  const named = [...objectsOf(pointer), ...pointer.earlier.flatMap(({ objects }) => objects)];
  const names = (await target.list()).map(({ name }) => name);
  expect(names.toSorted()).toEqual([...new Set(named)].toSorted());
  return pointer;
}

/** Publishes until that is done: a cluster that has lost its leader, or hangs, refuses for a while. */
export async function publishedAtLast(target: PublishingTarget, { file }: Release): Promise<void> {
  await doneAtLast(() => publishSnapshot({ file, target, allowRollback: false }, () => undefined));
}

/** Does something until it is done, where a cluster may refuse for a while or leave a question without an answer. */
export async function doneAtLast(work: () => Promise<unknown>): Promise<void> {
  const tried = async (): Promise<string> => {
    try {
      await work();
      return 'done';
    } catch (error) {
      expect(error).toMatchObject({ code: 'network' });
      return (error as Error).message;
    }
  };
  await expect.poll(tried, WATCH_POLL).toBe('done');
}

/** A target of which some is done otherwise. */
export function altered(target: PublishingTarget, changes: Partial<PublishingTarget>): PublishingTarget {
  return {
    name: target.name,
    readPointer: (...of) => target.readPointer(...of),
    read: (...of) => target.read(...of),
    has: (...of) => target.has(...of),
    write: (...of) => target.write(...of),
    replacePointer: (...of) => target.replacePointer(...of),
    list: () => target.list(),
    remove: (...of) => target.remove(...of),
    close: () => target.close(),
    ...changes,
  };
}

/** Pieces, and behind the first one what `harm` does. */
export async function* afterFirst(
  pieces: AsyncIterable<Uint8Array>,
  harm: () => Promise<unknown>,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const piece of pieces) {
    yield piece;
    if (count++ === 0) await harm();
  }
}

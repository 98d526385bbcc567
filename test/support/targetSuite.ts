// One test suite for every kind of target, and targets with changed behaviour.
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { fetchObject } from '../../data/distribution/fetch.ts';
import { pruneTarget } from '../../data/distribution/prune.ts';
import { publishSnapshot } from '../../data/distribution/publish.ts';
import {
  changesName,
  decodePointer,
  objectNames,
  type Pointer,
  type PublishingTarget,
  snapshotName,
} from '../../data/distribution/target.ts';
import { temporaryDirectory } from './dataSets.ts';
import { published, type Release, releaseOf, WATCH_POLL } from './distributions.ts';
import { randomBytes } from './random.ts';

const DAY = 86_400_000;
const { signal } = new AbortController();

/** The body in pieces of this many bytes. */
export async function* cutInto(body: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += bytes) yield body.subarray(at, at + bytes);
}

/** The pointer of a target, after a check that its objects are whole; undefined if it has no pointer. */
export async function wholeIn(target: PublishingTarget, parent: string): Promise<Pointer | undefined> {
  const found = await target.readPointer(undefined, signal);
  if (found === undefined || found === 'unchanged') return undefined;
  const pointer = decodePointer(found.text, target.name);
  const file = join(mkdtempSync(join(parent, 'fetched-')), 'snapshot');
  const asked = { target, name: snapshotName(pointer), stored: pointer, file, signal, stallMs: 30_000 };
  expect(await fetchObject(asked)).toBe(pointer.size);
  return pointer;
}

/** Defines the tests; `open` returns a new, empty target each time. */
export function describeTarget(open: (name: string) => Promise<PublishingTarget>): void {
  const directory = temporaryDirectory();
  let releases: readonly Release[];
  beforeAll(async () => {
    releases = await Promise.all([1, 2, 3, 4].map((day) => releaseOf(directory, day)));
  });

  test('has nothing until something is published', async () => {
    const target = await open('none');
    expect(await target.readPointer(undefined, signal)).toBeUndefined();
    expect(await target.read(`${'e'.repeat(64)}.snapshot`, 0, signal)).toBeUndefined();
    expect(await target.has(`${'e'.repeat(64)}.snapshot`, 1)).toBe(false);
  });

  test('returns an object from any byte on, and nothing of an object whose upload failed', async () => {
    const target = await open('read');
    const body = randomBytes(300_001);
    const name = `${'a'.repeat(64)}.snapshot`;
    await target.write(name, body.length, cutInto(body, 70_000));
    expect([await target.has(name, body.length), await target.has(name, 1)]).toEqual([true, false]);
    for (const offset of [0, 1, 131_072, body.length - 1]) {
      const found = (await target.read(name, offset, signal))!;
      expect(found.offset).toBeLessThanOrEqual(offset);
      const pieces: Uint8Array[] = [];
      for await (const piece of found.pieces) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(body.subarray(found.offset))).toBe(true);
    }
    const other = `${'b'.repeat(64)}.snapshot`;
    await expect(target.write(other, body.length, failing(body))).rejects.toThrow('the pieces failed');
    expect(await target.has(other, body.length)).toBe(false);
    expect((await target.list()).map((one) => one.name)).toEqual(expect.arrayContaining([name]));
    await target.remove(name);
    await target.remove(name);
    expect(await target.has(name, body.length)).toBe(false);
  });

  test('replaces the pointer that was read, and no other', async () => {
    const target = await open('pointer');
    await published(target, releases[0]!);
    const found = await target.readPointer(undefined, signal);
    if (found === undefined || found === 'unchanged') throw new Error('nothing is published');
    if (found.validator !== undefined) expect(await target.readPointer(found.validator, signal)).toBe('unchanged');
    const next = { ...decodePointer(found.text, ''), sequence: 2 };
    expect(await target.replacePointer(next, found)).toBe(true);
    expect(await target.replacePointer({ ...next, sequence: 3 }, found)).toBe(false);
    expect(await target.replacePointer({ ...next, sequence: 1 }, undefined)).toBe(false);
    expect((await wholeIn(target, directory))!.sequence).toBe(2);
  });

  describeGenerations(open, directory, () => releases);
  describeFeeds(open, directory, () => releases);
}

function describeGenerations(
  open: (name: string) => Promise<PublishingTarget>,
  directory: string,
  releasesOf: () => readonly Release[],
): void {
  test('keeps each published generation, in order, until it is pruned', async () => {
    const [target, releases] = [await open('prune'), releasesOf()];
    for (const release of releases) await published(target, release);
    await published(target, releases[3]!);
    const pointer = (await wholeIn(target, directory))!;
    expect(pointer).toMatchObject({ sequence: 4, generation: releases[3]!.generation });
    expect(pointer.earlier.map(({ generation }) => generation)).toEqual([2, 1, 0].map((i) => releases[i]!.generation));
    expect(await pruneTarget(target, 2, Date.now())).toMatchObject({ removed: 2, kept: 2 });
    expect(await pruneTarget(target, 1, Date.now() + 2 * DAY)).toMatchObject({ removed: 1, kept: 1 });
    expect((await target.list()).map(({ name }) => name)).toEqual(objectNames(pointer));
    expect((await wholeIn(target, directory))!.generation).toBe(releases[3]!.generation);
  });
}

function describeFeeds(
  open: (name: string) => Promise<PublishingTarget>,
  directory: string,
  releasesOf: () => readonly Release[],
): void {
  test('has the change feed of a generation, until it is pruned', async () => {
    const [target, releases] = [await open('feeds'), releasesOf()];
    const feeds = [randomBytes(2_500_000), randomBytes(10)];
    for (const [i, feed] of feeds.entries())
      await published(target, releases[i]!, {
        feedOf: async (generation) => (generation === releases[i]!.generation ? feed : undefined),
      });
    expect(await pruneTarget(target, 2, Date.now())).toMatchObject({ removed: 0, kept: 4 });
    const pointer = (await wholeIn(target, directory))!;
    const file = join(mkdtempSync(join(directory, 'fetched-')), 'feed');
    const stored = pointer.changes!;
    const asked = { target, name: changesName(stored), stored, file, signal, stallMs: 30_000 };
    expect(await fetchObject(asked)).toBe(10);
    expect(readFileSync(file).equals(feeds[1]!)).toBe(true);
    const [earlier] = pointer.earlier[0]!.objects.filter((name) => name.endsWith('.changes'));
    expect(await target.has(earlier!, feeds[0]!.length)).toBe(true);
    expect(await pruneTarget(target, 1, Date.now())).toMatchObject({ removed: 2, kept: 2 });
    expect((await target.list()).map(({ name }) => name).toSorted()).toEqual(objectNames(pointer).toSorted());
    await published(target, releases[1]!);
    expect((await wholeIn(target, directory))!).toMatchObject({ sequence: 3, changes: undefined });
  });
}

async function* failing(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body.subarray(0, 100_000);
  throw new Error('the pieces failed');
}

/** The pointer of a target. Throws if nothing is published. */
export async function pointerOf(target: PublishingTarget): Promise<Pointer> {
  const found = await target.readPointer(undefined, signal);
  if (found === undefined || found === 'unchanged') throw new Error('nothing is published');
  return decodePointer(found.text, target.name);
}

/** The pointer, after its snapshot was fetched whole into `parent`. The target has no object that no pointer names. */
export async function onlyWholeIn(target: PublishingTarget, parent: string): Promise<Pointer> {
  const pointer = (await wholeIn(target, parent))!;
  const named = [...objectNames(pointer), ...pointer.earlier.flatMap(({ objects }) => objects)];
  const names = (await target.list()).map(({ name }) => name);
  expect(names.toSorted()).toEqual([...new Set(named)].toSorted());
  return pointer;
}

/** Publishes with retries: a cluster that has lost its leader, or hangs, refuses for a while. */
export async function publishedAtLast(target: PublishingTarget, { file }: Release): Promise<void> {
  await doneAtLast(() => publishSnapshot({ file, target, allowRollback: false }, () => undefined));
}

/** Repeats the work until it succeeds. A cluster may refuse for a while, or not respond to a request. */
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

/** A target with some operations replaced. */
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

/** Yields the pieces, and runs `harm` after the first one. */
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

// Fetches of an object from a slow target: what counts as progress, by a clock that the test moves.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fetchObject, partialPath } from '../../../../data/distribution/fetch.ts';
import type { Target } from '../../../../data/distribution/target.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { randomBytes } from '../../../support/random.ts';

const directory = temporaryDirectory();
const STALL_MS = 30_000;
const body = randomBytes(1 << 20);
const stored = { sha256: createHash('sha256').update(body).digest('hex'), size: body.length };

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

/** A target without ranges that sends this many bytes in each time limit. */
function slowTarget(bytes: number, asked: number[]): Target {
  return {
    name: 'slow',
    readPointer: async () => undefined,
    read: async (_name, offset, signal) => {
      asked.push(offset);
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < body.length; at += bytes) {
          yield body.subarray(at, at + bytes);
          vi.advanceTimersByTime(STALL_MS);
          signal.throwIfAborted();
        }
      }
      return { offset: 0, pieces: pieces() };
    },
    close: async () => undefined,
  };
}

function fetchFrom(target: Target, file: string): Promise<number> {
  const { signal } = new AbortController();
  return fetchObject({ target, name: 'object', stored, file, signal, stallMs: STALL_MS });
}

test('counts bytes that arrive again as progress', async () => {
  const file = join(mkdtempSync(join(directory, 'fetched-')), 'object');
  const kept = body.length - 100_000;
  writeFileSync(partialPath(file), body.subarray(0, kept));
  const asked: number[] = [];
  expect(await fetchFrom(slowTarget(1 << 16, asked), file)).toBe(100_000);
  expect(asked).toEqual([kept]);
  expect(readFileSync(file).equals(body)).toBe(true);
});

test('gives up a target that drips after three attempts, and keeps the bytes', async () => {
  const file = join(mkdtempSync(join(directory, 'fetched-')), 'object');
  const asked: number[] = [];
  await expect(fetchFrom(slowTarget(1, asked), file)).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/^slow: object comes too slowly, or not at all, at byte \d+$/) as string,
  });
  expect(asked.length).toBe(3);
  expect(statSync(partialPath(file)).size).toBeLessThan(10);
});

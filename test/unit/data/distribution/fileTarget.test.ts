// Concurrent publishers to one folder: the pointer never goes back, whatever one does between two steps of another.
import fs, { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileTarget } from '../../../../data/distribution/fileTarget.ts';
import { decodePointer, encodePointer, type Pointer } from '../../../../data/distribution/target.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { newFolder, strayNames } from '../../../support/distributions.ts';

/**
 * Runs `work` as another publisher once the file with this name is opened or read next, before its reader continues.
 */
function meanwhile(name: string, work: () => void): void {
  const { openSync, readFileSync } = fs;
  const after =
    <Values extends readonly unknown[], T>(call: (...values: Values) => T) =>
    (...values: Values): T => {
      const answer = call(...values);
      if (String(values[0]).endsWith(`/${name}`)) {
        undo();
        work();
      }
      return answer;
    };
  undo = () => {
    Object.assign(fs, { openSync, readFileSync });
    syncBuiltinESMExports();
  };
  Object.assign(fs, { openSync: after(openSync), readFileSync: after(readFileSync) });
  syncBuiltinESMExports();
}

let undo = (): void => undefined;
afterEach(() => undo());

const directory = temporaryDirectory();
let folder: string;
let url: URL;
beforeEach(() => {
  const made = newFolder(directory);
  ({ folder } = made);
  url = new URL(made.url);
  writeFileSync(join(folder, 'current.json'), encodePointer(pointerOf(1, 'a')));
});

function pointerOf(sequence: number, digit: string): Pointer {
  const none = { created: undefined, refreshed: undefined, counts: {}, blocks: [], earlier: [] };
  return { sequence, generation: digit.repeat(64), sha256: digit.repeat(64), size: 1, ...none };
}

/** Replaces a pointer. This is done when the call returns, because no step of it waits. */
function replaced(next: Pointer, before: Pointer): Promise<boolean> {
  const text = encodePointer(before);
  return fileTarget(url).replacePointer(next, { text, validator: text });
}

function currentPointer(): Pointer {
  return decodePointer(readFileSync(join(folder, 'current.json'), 'utf8'), folder);
}

test('counts as published if another publisher renamed its pointer, and removes nothing from its successors', async () => {
  const [first, own, other, last] = [pointerOf(1, 'a'), pointerOf(2, 'b'), pointerOf(2, 'c'), pointerOf(3, 'd')];
  let adopted: Promise<boolean>;
  let followed: Promise<boolean>;
  meanwhile('current.json', () => {
    adopted = replaced(other, first);
    followed = replaced(last, own);
  });
  expect(await replaced(own, first)).toBe(true);
  expect([await adopted!, await followed!]).toEqual([false, true]);
  expect(currentPointer()).toEqual(last);
  expect(strayNames(folder)).toEqual([]);
});

test('removes nothing from its successors if it is stopped right before it renames its pointer', async () => {
  const [first, own, other, last] = [pointerOf(1, 'a'), pointerOf(2, 'b'), pointerOf(2, 'c'), pointerOf(3, 'd')];
  let followed: Promise<boolean>;
  meanwhile('current.2.json', () => {
    void replaced(other, first);
    followed = replaced(last, own);
  });
  expect(await replaced(own, first)).toBe(true);
  expect(await followed!).toBe(true);
  expect(currentPointer()).toEqual(last);
  expect(strayNames(folder)).toEqual([]);
});

test('removes nothing from the successors of another publisher whose pointer it finds renamed', async () => {
  const [first, own, other, last] = [pointerOf(1, 'a'), pointerOf(2, 'b'), pointerOf(2, 'c'), pointerOf(3, 'd')];
  const claim = join(folder, 'current.2.json');
  writeFileSync(claim, encodePointer(other));
  let followed: Promise<boolean>;
  meanwhile('current.2.json', () => {
    writeFileSync(join(folder, 'current.json'), encodePointer(other));
    rmSync(claim);
    followed = replaced(last, other);
  });
  expect(await replaced(own, first)).toBe(false);
  expect(await followed!).toBe(true);
  expect(currentPointer()).toEqual(last);
  expect(strayNames(folder)).toEqual([]);
});

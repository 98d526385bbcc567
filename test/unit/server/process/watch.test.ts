import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchOver } from '../../../../server/process/watch.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

test('reports refused data again ten minutes later, until it is accepted', async () => {
  const file = join(mkdtempSync(join(directory, 'watch-')), 'data');
  writeFileSync(file, 'first');
  const answers = [false, false, true];
  let told = 0;
  const end = (await watchOver(file))(() => Promise.resolve(answers[told++]!));
  const toldAfter = async (seconds: number): Promise<number> => {
    for (let i = 0; i < seconds; i++) {
      await vi.advanceTimersByTimeAsync(1000);
      // A poll is in progress.
      while (process.getActiveResourcesInfo().includes('FSReqPromise')) await setImmediate();
    }
    return told;
  };
  expect(await toldAfter(601)).toBe(0);
  writeFileSync(file, 'second');
  expect([await toldAfter(1), await toldAfter(1)]).toEqual([0, 1]);
  expect([await toldAfter(599), await toldAfter(1)]).toEqual([1, 2]);
  expect([await toldAfter(599), await toldAfter(1), await toldAfter(601)]).toEqual([2, 3, 3]);
  writeFileSync(file, 'the third');
  expect(await toldAfter(2)).toBe(4);
  end();
});

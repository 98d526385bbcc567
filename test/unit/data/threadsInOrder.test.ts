import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runInOrder } from '../../../data/threadsInOrder.ts';

test('finishes tasks whose results no caller takes before it continues', async () => {
  const [begun, done]: [number[], number[]] = [[], []];
  const run = async (n: number): Promise<number> => {
    begun.push(n);
    await setTimeout(n * 5);
    done.push(n);
    if (n === 2) throw new Error('refused');
    return n;
  };
  const readAll = async (): Promise<void> => {
    for await (const _ of runInOrder([1, 2, 3, 4, 5], 3, run));
  };
  await expect(readAll()).rejects.toThrow('refused');
  expect(done).toEqual(begun);
  for await (const first of runInOrder([6, 7, 8], 3, run)) {
    expect(first).toBe(6);
    break;
  }
  expect(done).toEqual(begun);
  expect(begun.at(-1)).toBe(8);
});

// The succession of generations, with loaders of the test, and the reports of its steps to operators.
import { expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import type { Generation, ServedData } from '../../../../server/process/loadGeneration.ts';
import { Generations, ReplacedGenerations, LastOutcomes } from '../../../../server/process/generations.ts';

function generationOf(generation: string): Generation {
  return { loaded: { generation }, blocks: undefined, held: undefined } as unknown as Generation;
}

test('dates responses by a later second after each change, whatever the clock: no date stands for two generations', async () => {
  const served: ServedData = { generation: generationOf('0'), sinceMs: 1_000_000 };
  const times = [2_000_000, 2_000_900, 500_000];
  const seconds: number[] = [];
  let loads = 0;
  const generations = new Generations(served, {
    load: () => Promise.resolve(generationOf(String(++loads))),
    serve: (next) => {
      seconds.push(Math.floor(next.sinceMs / 1000));
      Object.assign(served, next);
      return Promise.resolve();
    },
    onChange: () => undefined,
    now: () => times[seconds.length]!,
    clock: () => 0,
  });
  for (const _ of times) expect(await generations.reload()).toMatchObject({ status: 'swapped' });
  expect(seconds).toEqual([2000, 2001, 2002]);
});

test('closes readers of replaced data oldest first, and no more of them than new data needs', async () => {
  const closed: number[] = [];
  const frees = new Map<number, () => void>();
  const threads = {
    replacedReaders: () => 7,
    closeReaders(swap: number): void {
      closed.push(swap);
      frees.get(swap)!();
    },
  };
  const replaced = new ReplacedGenerations(3600, threads, () => undefined);
  for (const swap of [1, 2, 3]) {
    const { promise: isFree, resolve } = Promise.withResolvers<void>();
    frees.set(swap, resolve);
    replaced.add({ generation: `${swap}`, bytes: 10 ** 6, swap, isFree });
  }
  expect(replaced.status()).toEqual({ generations: 3, readers: 7, bytes: 3_000_000 });
  const load = (): Promise<string> =>
    closed.length < 2 ? Promise.reject(new OperationError('memory', 'too little')) : Promise.resolve('loaded');
  expect(await replaced.withRoom(load)).toBe('loaded');
  expect(closed).toEqual([1, 2]);
  expect(replaced.status()).toEqual({ generations: 1, readers: 7, bytes: 1_000_000 });
  const tooLarge = (): Promise<string> => Promise.reject(new OperationError('memory', 'too little'));
  await expect(replaced.withRoom(tooLarge)).rejects.toThrow(
    'too little; replaced data held 1.0 MB: its 7 readers were closed',
  );
  await expect(replaced.withRoom(tooLarge)).rejects.toThrow(/^too little$/);
  expect(replaced.status()).toEqual({ generations: 0, readers: 0, bytes: 0 });
});

const AT_MS = Date.parse('2027-01-01T00:00:00Z');
const [AT, LATER] = ['2027-01-01T00:00:00.000Z', '2027-01-01T00:01:00.000Z'];

test('keeps reporting the last failure after later successes', () => {
  const reloads = new LastOutcomes();
  expect(reloads.status()).toEqual({ lastSuccess: null, lastFailure: null });
  reloads.ended('refused', 'damaged', AT_MS);
  reloads.ended('swapped', undefined, AT_MS);
  reloads.ended('unchanged', undefined, AT_MS + 60_000);
  expect(reloads.status()).toEqual({ lastSuccess: LATER, lastFailure: { at: AT, reason: 'damaged' } });
  expect(reloads.seconds).toEqual([
    ['refused', AT_MS / 1000],
    ['swapped', AT_MS / 1000],
    ['unchanged', AT_MS / 1000 + 60],
  ]);
});

// How one generation follows another, by loaders of a test's own.
import { expect, test } from 'vitest';
import type { Generation, ServedData } from '../../../../server/generations/data.ts';
import { Generations } from '../../../../server/generations/generations.ts';

function generationOf(generation: string): Generation {
  return { loaded: { generation }, blocks: undefined, held: undefined } as unknown as Generation;
}

test('answers change by a later second each time, whatever the clock says: no date stands for two generations', async () => {
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

// The guards of a refresh, small: what is compared writes the same bytes, and is told as two times.
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { BUDGETS, placeOfBudget } from '../../../../bench/budgets.ts';
import { refreshTasks } from '../../../../bench/micro/refreshTasks.ts';
import { generate } from '../../../../data/synth/generate.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

test('a refresh is compared with a whole import that writes the same, and has a budget', async () => {
  const directory = join(temporaryDirectory(), 'data');
  await generate({ observations: 120, seed: 1, directory }, () => undefined);
  const generations = new Set<string>();
  for (const { name, times, check } of refreshTasks(directory)) {
    generations.add(await check());
    expect((await times(0)).every((nanoseconds) => nanoseconds > 0)).toBe(true);
    expect(BUDGETS.micro, placeOfBudget('micro', name)).toHaveProperty(name);
  }
  expect(generations.size).toBe(2);
});

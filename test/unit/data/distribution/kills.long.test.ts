// Publishers, and servers that follow, killed at every step that changes the file system.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { killedFollower, killedPublish, stepsOfPublish } from '../../../support/distributionKills.ts';
import { releaseOf } from '../../../support/distributions.ts';

const directory = temporaryDirectory();

test('killed at any step, a publisher leaves the old generation or the new one, and the next run ends the work', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const steps = await stepsOfPublish(directory, old, next);
  expect(steps).toBeGreaterThan(10);
  for (let step = 1; step <= steps; step++) await killedPublish(directory, old, next, step);
});

test('killed at any step, a server that follows leaves a cache to start from, and the next one serves the new', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const steps = await killedFollower(directory, old, next, undefined);
  for (let step = 1; step < steps; step++) await killedFollower(directory, old, next, step);
});

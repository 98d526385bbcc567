// Publishers, and servers that subscribe, killed at steps that change the file system: at six of them in CI, at all of
// them in the nightly run.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { followerKills, killedPublish, stepsOfPublish } from '../../../support/distributionKills.ts';
import { releaseOf } from '../../../support/distributions.ts';
import { someSteps } from '../../../support/ring.ts';

const KILLS = 6;
const directory = temporaryDirectory();

test('killed at a step, a publisher leaves the old generation or the new one, and the next run ends the work', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const steps = await stepsOfPublish(directory, old, next);
  expect(steps).toBeGreaterThan(10);
  for (const step of someSteps(steps, KILLS)) await killedPublish(directory, old, next, step);
});

test('killed at a step, a server that subscribes leaves a cache to start from, and the next one serves the new', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const { steps, killAt } = await followerKills(directory, old, next);
  for (const step of someSteps(steps - 1, KILLS)) await killAt(step);
});

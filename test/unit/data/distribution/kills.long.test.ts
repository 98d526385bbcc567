// Publishers, and servers that subscribe, killed at steps that change the file system: others in each run, so that all
// of them have their turn (KILLS=all asks for every one at once, some 15 minutes).
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { killedFollower, killedPublish, stepsOfPublish } from '../../../support/distributionKills.ts';
import { releaseOf } from '../../../support/distributions.ts';
import { freshSeed, randomOf } from '../../../support/random.ts';

const SEED = freshSeed();
const KILLS = process.env['KILLS'] === 'all' ? Infinity : 20;
const directory = temporaryDirectory();

/** So many of the steps from 1 on, spread over all of them, in order. */
function someOf(steps: number): readonly number[] {
  const stride = Math.max(1, steps / KILLS);
  const first = randomOf(SEED).integer(1, Math.ceil(stride) + 1);
  const count = Math.floor((steps - first) / stride) + 1;
  return Array.from({ length: count }, (_, i) => Math.floor(first + i * stride));
}

test(`killed at a step, a publisher leaves the old generation or the new one, and the next run ends the work (seed ${SEED})`, async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const steps = await stepsOfPublish(directory, old, next);
  expect(steps).toBeGreaterThan(10);
  for (const step of someOf(steps)) await killedPublish(directory, old, next, step);
});

test(`killed at a step, a server that subscribes leaves a cache to start from, and the next one serves the new (seed ${SEED})`, async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const steps = await killedFollower(directory, old, next, undefined);
  for (const step of someOf(steps - 1)) await killedFollower(directory, old, next, step);
});

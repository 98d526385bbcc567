// A server that follows a target and is killed while it fetches or swaps leaves the old generation or the new one: at a
// few of the steps that change the file system; the long ring has all of them.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { followerKills } from '../../../support/distributionKills.ts';
import { releaseOf } from '../../../support/distributions.ts';

const directory = temporaryDirectory();

test('killed, it leaves a cache to start from, and the next one serves the new generation', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const { steps, killAt } = await followerKills(directory, old, next);
  expect(steps).toBeGreaterThan(8);
  for (const share of [0.5, 0.8]) await killAt(Math.round((steps - 1) * share));
});

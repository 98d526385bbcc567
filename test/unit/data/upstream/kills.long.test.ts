// A crawl that is killed with SIGKILL, before steps that change the file system and at random moments: the output is
// the old data set or the new one, absent between two renames only, and the next run ends the work. CI kills at eight
// steps, the nightly run at all of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAndResume, stepsOfCrawl } from '../../../support/crawlKills.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { IS_WHOLE, someSteps, times } from '../../../support/ring.ts';
import { type RudeUpstream, startRudeUpstream } from '../../../support/rudeUpstream.ts';

const directory = temporaryDirectory();
const KILLS = times(4, 100);
let upstream: RudeUpstream;
beforeAll(async () => {
  upstream = await startRudeUpstream(() => undefined, 'first', 0);
});
afterAll(() => upstream.close());

test('before its steps', async () => {
  const steps = await stepsOfCrawl(upstream, directory);
  const absent = [];
  for (const step of someSteps(steps, 8)) {
    if (await killAndResume(upstream, directory, { step })) absent.push(step);
  }
  // The step between the two renames.
  expect(absent.length).toBeLessThanOrEqual(1);
  if (IS_WHOLE) expect(absent).toHaveLength(1);
});

test(`at ${KILLS} random moments`, async () => {
  const random = randomOf(RUN_SEED);
  for (let i = 0; i < KILLS; i++) await killAndResume(upstream, directory, { ms: random.unit() * 1500 });
});

// A crawl that is killed with SIGKILL, before each of its steps that change the file system and at random moments: the
// output is the old data set or the new one, absent between two renames only, and the next run ends the work.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAndResume, stepsOfCrawl } from '../../../support/crawlKills.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { times } from '../../../support/ring.ts';
import { type RudeUpstream, startRudeUpstream } from '../../../support/rudeUpstream.ts';

const directory = temporaryDirectory();
const KILLS = times(15, 300);
let upstream: RudeUpstream;
beforeAll(async () => {
  upstream = await startRudeUpstream(() => undefined, 'first', 0);
});
afterAll(() => upstream.close());

test('before each step, whichever it is', async () => {
  const steps = await stepsOfCrawl(upstream, directory);
  const absent = [];
  for (let step = 1; step <= steps; step++) {
    if (await killAndResume(upstream, directory, { step })) absent.push(step);
  }
  // The step between the two renames.
  expect(absent).toHaveLength(1);
});

test(`at ${KILLS} random moments`, async () => {
  const random = randomOf(RUN_SEED);
  for (let i = 0; i < KILLS; i++) await killAndResume(upstream, directory, { ms: random.unit() * 1500 });
});

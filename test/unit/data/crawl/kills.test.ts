// A crawl that is killed with SIGKILL leaves the old data set or the new one, and the next run ends it: at a few of the
// steps that change the file system; the long ring has all of them, and moments by the clock.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAndResume, stepsOfCrawl } from '../../../support/crawlKills.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { type RudeUpstream, startRudeUpstream } from '../../../support/rudeUpstream.ts';

const directory = temporaryDirectory();
let upstream: RudeUpstream;
beforeAll(async () => {
  upstream = await startRudeUpstream(() => undefined, 'first', 0);
});
afterAll(() => upstream.close());

test('a crawl that is killed while it collects, saves, accepts or publishes is ended by the next run', async () => {
  const steps = await stepsOfCrawl(upstream, directory);
  const instants = [Math.round(steps * 0.5), Math.round(steps * 0.8), steps - 4, steps - 2];
  const absent = [];
  for (const step of instants) if (await killAndResume(upstream, directory, { step })) absent.push(step);
  expect(absent.length).toBeLessThanOrEqual(1);
});

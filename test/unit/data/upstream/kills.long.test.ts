// A crawl killed with SIGKILL, before steps that change the file system and at random moments. The output is the old
// data set or the new one, absent only between two renames, and the next run finishes the work. CI kills at eight
// steps, the nightly run at all of them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestCatalogue } from '../../../../data/upstream/digests.ts';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { crawled, filesOf, oldDataSet, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { killedAtStep, stepsOf, abandonAll } from '../../../support/killer.ts';
import { NOTES, notesLines, type RudeUpstream, startRudeUpstream } from '../../../support/plainUpstream.ts';
import { randomOf, RUN_SEED } from '../../../support/random.ts';
import { IS_WHOLE, someSteps, times } from '../../../support/ring.ts';

/** A crawl by the command, killed before a step. */
function crawlProcess(upstream: RudeUpstream, output: string, step?: number): CommandProcess {
  const words = ['crawl', upstream.url, '-o', output, '--rate', '1000', '--force'];
  return runCommand(words, killedAtStep(step));
}

/** The instant of the kill: before a call that changes the file system, or after some time. */
type Instant = { readonly step: number } | { readonly ms: number };

/**
 * Kills a crawl, checks which files remain, and crawls again. Returns whether the output was absent, which is allowed
 * only between two renames. At that moment both data sets must be whole, and readers of the output's name must get the
 * new one.
 */
async function killAndResume(upstream: RudeUpstream, scratch: string, instant: Instant): Promise<boolean> {
  const output = oldDataSet(scratch, upstream.url);
  const old = filesOf(output);
  const command = crawlProcess(upstream, output, 'step' in instant ? instant.step : undefined);
  if ('ms' in instant) {
    await Promise.race([setTimeout(instant.ms), command.ended]);
    command.signal('SIGKILL');
  }
  await command.ended;
  abandonAll(`${output}.crawl`);
  const left = recordsOf(output);
  if (left === undefined) {
    expect(filesOf(join(`${output}.crawl`, 'previous'))).toEqual(old);
    expect(recordsOf(join(`${output}.crawl`, 'data'))?.['notes.ndjson']).toBe(notesLines());
    expect((await digestCatalogue(output, 0, () => undefined)).get('notes')?.ids).toHaveLength(NOTES);
  } else if (left['notes.ndjson'] !== notesLines()) expect(filesOf(output)).toEqual(old);
  await crawled(upstream.url, output, { isForced: true });
  expect(recordsOf(output)?.['notes.ndjson']).toBe(notesLines());
  expect(existsSync(`${output}.crawl`)).toBe(false);
  return left === undefined;
}

const directory = temporaryDirectory();
const KILLS = times(4, 100);
let upstream: RudeUpstream;
beforeAll(async () => {
  upstream = await startRudeUpstream(() => undefined, 'first', 0);
});
afterAll(() => upstream.close());

test('leaves the old or the new data set if a crawl is killed before its steps', async () => {
  const steps = await stepsOf(crawlProcess(upstream, oldDataSet(directory, upstream.url), 0));
  const absent = [];
  for (const step of someSteps(steps, 8)) {
    if (await killAndResume(upstream, directory, { step })) absent.push(step);
  }
  // The step between the two renames.
  expect(absent.length).toBeLessThanOrEqual(1);
  if (IS_WHOLE) expect(absent).toHaveLength(1);
});

test(`leaves the old or the new data set if a crawl is killed at ${KILLS} random moments`, async () => {
  const random = randomOf(RUN_SEED);
  for (let i = 0; i < KILLS; i++) await killAndResume(upstream, directory, { ms: random.unit() * 1500 });
});

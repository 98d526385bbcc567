// Crawls that are killed, and what they leave: the old data set or the new one, and a next run that ends the work.
// The upstream is that of rudeUpstream.ts, which behaves.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { type CommandProcess, runCommand } from './commandProcess.ts';
import { digestsOf } from '../../data/upstream/digests.ts';
import { crawled, filesOf, oldDataSet, recordsOf } from './crawls.ts';
import { abandonAll } from './locks.ts';
import { NOTES, notesLines, type RudeUpstream } from './rudeUpstream.ts';

const KILLED_AT_STEP = new URL('./defects/killedAtStep.ts', import.meta.url).href;

/** The command in a process of its own; `step` as killedAtStep.ts has it. */
function crawlProcess(upstream: RudeUpstream, output: string, step?: number): CommandProcess {
  const words = ['crawl', upstream.url, '-o', output, '--rate', '1000', '--force'];
  if (step === undefined) return runCommand(words);
  return runCommand(words, { environment: { KILLED_AT_STEP: String(step) }, node: ['--import', KILLED_AT_STEP] });
}

/** Where the process is killed: before a call that changes the file system, or after some time. */
export type Instant = { readonly step: number } | { readonly ms: number };

/**
 * Kills a crawl, looks at what it left, and crawls again. Answers whether the output was absent: that may be between
 * two renames only, and both data sets are whole then, of which the new one is read by the name of the output.
 */
export async function killAndResume(upstream: RudeUpstream, scratch: string, instant: Instant): Promise<boolean> {
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
    expect((await digestsOf(output, 0, () => undefined)).get('notes')?.ids).toHaveLength(NOTES);
  } else if (left['notes.ndjson'] !== notesLines()) expect(filesOf(output)).toEqual(old);
  await crawled(upstream.url, output, { isForced: true });
  expect(recordsOf(output)?.['notes.ndjson']).toBe(notesLines());
  expect(existsSync(`${output}.crawl`)).toBe(false);
  return left === undefined;
}

/** How many steps a crawl has that nobody kills. */
export async function stepsOfCrawl(upstream: RudeUpstream, scratch: string): Promise<number> {
  const command = crawlProcess(upstream, oldDataSet(scratch, upstream.url), 0);
  const [, steps] = await command.printed(/steps: (\d+)\n/);
  await command.ended;
  return Number(steps);
}

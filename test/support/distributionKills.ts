// Publishers that are killed right before a call that changes the file system, and what they leave: the old generation
// or the new one, and a next run that ends the work.
import { expect } from 'vitest';
import { type CommandProcess, runCommand } from './commandProcess.ts';
import { newFolder, published, type Release, strayNames, wholePointer } from './distributions.ts';

const KILLED_AT_STEP = new URL('./defects/killedAtStep.ts', import.meta.url).href;

/** A command that is killed at a step, as killedAtStep.ts has it. */
function killedCommand(words: readonly string[], step: number): CommandProcess {
  return runCommand(words, { environment: { KILLED_AT_STEP: String(step) }, node: ['--import', KILLED_AT_STEP] });
}

/** How many steps it takes to publish one generation over another. */
export async function stepsOfPublish(parent: string, old: Release, next: Release): Promise<number> {
  const { url } = newFolder(parent);
  await published(url, old);
  const command = killedCommand(['publish', next.file, '--to', url], 0);
  const [, steps] = await command.printed(/steps: (\d+)\n/);
  return Number(steps);
}

/** Kills a publisher at a step, looks at what it left, and publishes again. */
export async function killedPublish(parent: string, old: Release, next: Release, step: number): Promise<void> {
  const { folder, url } = newFolder(parent);
  await published(url, old);
  await killedCommand(['publish', next.file, '--to', url], step).ended;
  const left = wholePointer(folder)!;
  expect([old.generation, next.generation]).toContain(left.generation);
  await published(url, next);
  expect(wholePointer(folder)).toMatchObject({ generation: next.generation, sequence: 2 });
  // Its claim may be left where it was killed behind the rename, until another generation follows.
  expect(strayNames(folder).filter((name) => name !== 'current.2.json')).toEqual([]);
}

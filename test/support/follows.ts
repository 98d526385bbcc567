// A replica that follows a catalogue which tests change: refreshed by the command in a process of its own, killed at
// any step, and compared with the catalogue record by record.
import { join } from 'node:path';
import { changesBetween, changesSince, generationsIn, kindOf } from '../../data/upstream/changeLog.ts';
import { digestsOf } from '../../data/upstream/digests.ts';
import { type CommandProcess, runCommand } from './commandProcess.ts';
import { dataSetOf, type Files } from './dataSets.ts';
import { killedAtStep } from './killer.ts';
import type { PlainRecord } from './plainUpstream.ts';

/** The flags of a quick refresh, which tells its steps as events. */
export const QUICK = ['--rate', '1000', '--threads', '1', '--force', '--log-format', 'json'];

/** One refresh by the command, killed before a step. */
export function followOnce(url: string, folder: string, step?: number): CommandProcess {
  const words = ['follow', url, '-o', folder, '--once', ...QUICK];
  return runCommand(words, killedAtStep(step));
}

/** Returns the differences between a folder's snapshot and these notes, as `id kind`. */
export async function differencesFrom(folder: string, notes: readonly PlainRecord[]): Promise<readonly string[]> {
  const lines = notes.map((note) => `${JSON.stringify(note)}\n`).join('');
  return (await differencesFromDataSet(folder, { 'notes.ndjson': lines })).map((one) => one.replace('notes ', ''));
}

/** Returns the differences between a folder's snapshot and the files of a data set, as `collection id kind`. */
export async function differencesFromDataSet(folder: string, files: Files): Promise<readonly string[]> {
  const nothing = (): void => undefined;
  const [a, b] = [
    await digestsOf(dataSetOf(join(folder, '..'), files), 0, nothing),
    await digestsOf(join(folder, 'catalogue.snapshot'), 0, nothing),
  ];
  return [...changesBetween(a, b)].map((change) => `${change.collection} ${change.id} ${kindOf(change)}`);
}

/** What a folder's log has behind its generation of a number, as `id kind`. */
export function loggedIn(folder: string, behind: number): readonly string[] {
  const file = join(folder, 'changes.log');
  return [...changesSince(file, generationsIn(file)[behind]!.generation)].flatMap(({ changes }) =>
    changes.map((change) => `${change.id} ${kindOf(change)}`),
  );
}

// Work on a folder that is killed at instants drawn over the time that it takes, by a signal that it cannot heed: what
// it leaves is what was there or what is to be there, file by file, and the next run ends it as if nobody had.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { type CommandProcess } from './commandProcess.ts';
import { type Random } from './random.ts';

/** Work that has begun: `done` resolves when it is through, and rejects where it ends otherwise. */
export interface Running {
  readonly command: Pick<CommandProcess, 'signal' | 'ended' | 'kill'>;
  readonly done: () => Promise<unknown>;
}

/**
 * What is killed. `old` is a folder as it is before, of which each run has a copy, and `run` starts the work in one;
 * `judge` looks at what else there is, once after each kill. `contents` are sums by file, of those that are to be the
 * same whoever made them; `always` is one that is there whatever happens.
 */
export interface KilledWork {
  readonly old: string;
  readonly always: string;
  contents(folder: string): Contents | Promise<Contents>;
  run(folder: string): Promise<Running>;
  judge?(folder: string): void | Promise<void>;
}

/** Sums of files by their names. */
export type Contents = Readonly<Record<string, string>>;

/** What a run that was killed may leave, and nobody takes for a file. */
const UNFINISHED = /\.partial/;

/** A command that is through when it has ended with 0. */
export function runningCommand(command: CommandProcess): Running {
  const done = async (): Promise<void> => {
    expect(await command.ended, command.err()).toEqual({ code: 0, signal: null });
  };
  return { command, done };
}

/** Kills work so often; answers how long it takes when nobody does, in milliseconds. */
export async function killAtInstants(work: KilledWork, kills: number, random: Random): Promise<number> {
  const [old, whole] = [await work.contents(work.old), copyOf(work.old)];
  const begun = await work.run(whole);
  const startMs = performance.now();
  await begun.done();
  const spanMs = performance.now() - startMs;
  await begun.command.kill();
  const next = await work.contents(whole);
  expect(next).not.toEqual(old);
  for (let i = 0; i < kills; i++) {
    const folder = copyOf(work.old);
    const { command, done } = await work.run(folder);
    done().catch(() => undefined);
    const ms = Math.round(random.unit() * spanMs);
    await Promise.race([setTimeout(ms), command.ended]);
    command.signal('SIGKILL');
    await command.ended;
    abandonAll(folder);
    const when = `killed after ${ms} of ${Math.round(spanMs)} ms`;
    const left = await work.contents(folder);
    expect(left, when).toHaveProperty([work.always]);
    for (const [name, sum] of Object.entries(left)) expect([old[name], next[name]], `${when}: ${name}`).toContain(sum);
    await work.judge?.(folder);
    const again = await work.run(folder);
    await again.done();
    await again.command.kill();
    expect(await work.contents(folder), when).toEqual(next);
    expect(unfinishedIn(folder), when).toEqual([]);
  }
  return spanMs;
}

function copyOf(old: string): string {
  const folder = join(mkdtempSync(`${old}-`), 'folder');
  cpSync(old, folder, { recursive: true });
  return folder;
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

function unfinishedIn(folder: string): readonly string[] {
  return filesIn(folder).filter((name) => UNFINISHED.test(name));
}

/** The sums of the finished files in a folder, each under the name that `as` answers, if it does. */
export function sumsIn(folder: string, as: (name: string) => string | undefined = (name) => name): Contents {
  return Object.fromEntries(
    filesIn(folder).flatMap((file) => {
      const name = UNFINISHED.test(file) ? undefined : as(file);
      return name === undefined ? [] : [[name, sumOf(readFileSync(join(folder, file)))]];
    }),
  );
}

/** The sum of bytes or of a text. */
export function sumOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Makes a file as old as it is when its holder has not touched it for this long. */
export function age(file: string, minutes: number): void {
  const at = Date.now() / 1000 - minutes * 60;
  utimesSync(file, at, at);
}

/** Makes all locks and partial output in a folder abandoned. */
export function abandonAll(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (/(?:^|\/)lock$|\.partial-[^/]*$/.test(name)) age(join(folder, name), 6);
}

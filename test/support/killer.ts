// Ends processes and threads of tests. `killerIn` and `killableServer` end threads of a running server through a
// preload; `killedAtStep` ends a command before a call that changes the file system. `abandonAll` makes locks and
// partial output of killed processes 6 minutes old, because other processes take them over after 5.
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandOptions, type CommandProcess, runServer, type Server } from './commandProcess.ts';

/** The kinds of threads, each with a part of the path of its first file. */
const SCRIPTS = { serving: 'servingThread', authority: 'authority/thread', pool: 'piscina' } as const;

export type KilledKind = keyof typeof SCRIPTS;

/** Ways for a thread to exit or to stop responding. */
export const DEEDS = {
  throws: `throw new Error('sabotage')`,
  exits: `process.exit(3)`,
  loops: `for (;;);`,
  sleeps: `require('node:child_process').execSync('sleep 600')`,
  leaks: `const kept = []; setInterval(() => kept.push(Array.from({ length: 2000 }, (_, i) => ({ i }))), 10)`,
} as const;

/**
 * `node` are Node flags for a server. `kill` leaves an order that one thread of a kind obeys later. `msSince` returns
 * the milliseconds since a thread of that kind last obeyed one.
 */
export interface Killer {
  readonly node: readonly string[];
  kill(kind: KilledKind, deed: keyof typeof DEEDS): void;
  msSince(kind: KilledKind): number;
}

/**
 * A killer with its files in `directory`. A thread checks for an order every 20 ms, a pool thread when work arrives.
 */
export function killerIn(directory: string): Killer {
  const orders = mkdtempSync(join(directory, 'killer-'));
  const preload = join(orders, 'preload.mjs');
  writeFileSync(
    preload,
    `import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
     import { createRequire } from 'node:module';
     import worker from 'node:worker_threads';
     const require = createRequire(import.meta.url);
     const look = (kind) => {
       const file = ${JSON.stringify(orders)} + '/' + kind;
       if (!existsSync(file)) return;
       let order;
       try { order = readFileSync(file, 'utf8'); unlinkSync(file); } catch { return; }
       writeFileSync(file + '.begun', String(process.hrtime.bigint()));
       new Function('require', order)(require);
     };
     if (!worker.isMainThread) {
       const script = process.argv[1] ?? '';
       const kind = ${JSON.stringify(Object.entries(SCRIPTS))}.find(([, name]) => script.includes(name))?.[0];
       // Pool threads sleep without turning their event loop, and look at such words when they are woken.
       const { load } = Atomics;
       if (kind && kind !== 'pool') setInterval(look, 20, kind).unref();
       else if (kind) Atomics.load = (...words) => (look(kind), load(...words));
     }`,
  );
  return {
    node: ['--import', preload],
    kill: (kind, deed) => {
      const file = join(orders, kind);
      writeFileSync(`${file}.new`, DEEDS[deed]);
      renameSync(`${file}.new`, file);
    },
    // All processes of a machine share this clock.
    msSince: (kind) =>
      Number(process.hrtime.bigint() - BigInt(readFileSync(join(orders, `${kind}.begun`), 'utf8'))) / 1e6,
  };
}

/** Flags of a server with an admin port that starts soon. */
export const WATCHED = ['--gzip', 'live', '--admin-port', '0'];

export interface KillableServer {
  readonly killer: Killer;
  readonly server: Server;
}

/** Starts a server with a killer, whose files are in `directory`. */
export async function killableServer(directory: string, words: readonly string[]): Promise<KillableServer> {
  const killer = killerIn(directory);
  return { killer, server: await runServer([...WATCHED, ...words], { node: killer.node }) };
}

const KILLED_AT_STEP = new URL('./defects/killedAtStep.ts', import.meta.url).href;

/** Options of a command that is killed before its nth call that changes the file system; with 0 it counts the calls. */
export function killedAtStep(step: number | undefined): CommandOptions {
  if (step === undefined) return {};
  return { environment: { KILLED_AT_STEP: String(step) }, node: ['--import', KILLED_AT_STEP] };
}

/** The number of calls of a command that counts them, once it has exited. */
export async function stepsOf(command: CommandProcess): Promise<number> {
  const [, steps] = await command.printed(/steps: (\d+)\n/);
  await command.ended;
  return Number(steps);
}

/** Sets a file's time as if its holder had not touched it for this long. */
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

// The processes of a bench: the server, the control beside it and the load client, each a child of its own. Starts and
// stops them; knows nothing of scenarios.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A child that listens on loopback. `stop` ends it and waits until it is gone. */
export interface ListeningProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** Every link of the answers starts with this, so that bodies, and the hashes of them, do not depend on the port. */
export const BENCH_BASE_URL = 'http://catalogue.example.org';

/** The base URL that a request chooses by its Host, of a server that allows it. */
export const OTHER_BASE_URL = 'https://mirror.example.org/catalogue';

/** What lets the server keep answers, as it does by itself. */
export const KEEPING_ANSWERS: readonly string[] = ['--answer-cache-mb', '4'];

const NO_ANSWERS_KEPT: readonly string[] = [
  '/usr/bin/env',
  'CATALOGUE_ANSWER_CACHE_MB=0',
  'CATALOGUE_LOG_FORMAT=people',
];

/** The command as it is installed, under the root of any revision. */
export const LAUNCHER = 'server/launch.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The same of this tree, by its whole path. */
export const LAUNCHER_FILE = path.join(ROOT, LAUNCHER);

/** A snapshot of a million observations takes 10 s to load, but a peer fills its database with them in minutes. */
const START_MS_MAX = 900_000;
/** A child that takes longer to end on SIGTERM hangs. */
const STOP_MS_MAX = 15_000;

/**
 * Which tree's server to start (this one's when undefined), with how many threads, what its process loads first, and
 * the program with its flags that it runs under.
 */
export interface ServerOptions {
  readonly root?: string;
  readonly threads?: number;
  readonly preload?: string;
  readonly under?: readonly string[];
  readonly flags?: readonly string[];
}

/**
 * The product as operators run it, with one serving thread, but without its caches of rows and answers: each request
 * does its work. The second is told by the environment, in which an older revision, which has none, looks for nothing.
 */
export function startServer(snapshot: string, options: ServerOptions = {}): Promise<ListeningProcess> {
  const { root = ROOT, threads = 1, preload, under = [], flags = [] } = options;
  const settings = { data: snapshot, port: 0, threads, 'row-set-cache-mb': 0, 'base-url': BENCH_BASE_URL };
  const texts = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const before = preload === undefined ? [] : ['--import', preload];
  const program = [...before, path.join(root, LAUNCHER), 'serve', ...texts, ...flags];
  return startNode([...NO_ANSWERS_KEPT, ...under], program);
}

/** The bare control (control.ts), whose floor views move over `memoryBytes`; `under` as for the server. */
export function startControl(memoryBytes: number, under: readonly string[] = []): Promise<ListeningProcess> {
  return startNode(under, [fileURLToPath(new URL('./control.ts', import.meta.url)), String(memoryBytes)]);
}

function startNode(under: readonly string[], flags: readonly string[]): Promise<ListeningProcess> {
  const [program, ...rest] = [...under, process.execPath, ...flags];
  return startListening(program!, rest);
}

/** Starts a program that prints `listening on http://HOST:PORT`; rejects with what it printed when it does not. */
export async function startListening(
  program: string,
  flags: readonly string[],
  options: SpawnOptions = {},
): Promise<ListeningProcess> {
  const child = spawn(program, flags, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    return { pid: child.pid!, port: await portOf(child, [program, ...flags].join(' ')), stop: () => stopped(child) };
  } catch (error) {
    await stopped(child);
    throw error;
  }
}

/** The port in the line `listening on http://HOST:PORT` that both programs print. */
function portOf(child: ChildProcess, command: string): Promise<number> {
  let printed = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} does not listen:\n${printed}`)), START_MS_MAX);
    // Nobody waits for it where the program ends before.
    timer.unref();
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`${command} ended with ${code ?? signal} before it listened:\n${printed}`)),
    );
    const listen = (piece: Buffer): void => {
      printed += piece.toString();
      const match = /listening on http:\/\/[^\s/]+:(\d+)\s/.exec(printed);
      if (!match) return;
      clearTimeout(timer);
      // What it prints from now on is read, so that it can go on, and not kept.
      child.stdout!.removeAllListeners('data').resume();
      child.stderr!.removeAllListeners('data').pipe(process.stderr);
      resolve(Number(match[1]));
    };
    child.stdout!.on('data', listen);
    child.stderr!.on('data', listen);
  });
}

/** Ends a child with SIGTERM, and with SIGKILL when that takes too long. */
export async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

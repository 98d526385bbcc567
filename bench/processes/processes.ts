// The processes of a benchmark: the server, the control and the load client, each a child process. Starts and stops
// them.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A child that listens on loopback. `stop` stops it and waits until it has exited. */
export interface ListeningProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** Every link in responses starts with this, so that bodies and their hashes do not depend on the port. */
export const BENCH_BASE_URL = 'http://catalogue.example.org';

/** The base URL that a request selects by its Host, if the server allows it. */
export const OTHER_BASE_URL = 'https://mirror.example.org/catalogue';

/** Lets the server cache responses, as it does by default. */
export const KEEPING_ANSWERS: readonly string[] = ['--answer-cache-mb', '4'];

const NO_ANSWERS_KEPT: readonly string[] = [
  '/usr/bin/env',
  'CATALOGUE_ANSWER_CACHE_MB=0',
  'CATALOGUE_LOG_FORMAT=people',
];

/** The installed command, under the root of any revision. */
export const LAUNCHER = 'server/launch.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The same in this tree, as an absolute path. */
export const LAUNCHER_FILE = path.join(ROOT, LAUNCHER);

/** A snapshot of a million observations takes 10 s to load, but a peer fills its database with them in minutes. */
const START_MS_MAX = 900_000;
/** Errors cut a command at this length: the argument of the Django peer has 30 KB. */
const COMMAND_CHARACTERS_MAX = 200;
/** A child that takes longer to exit on SIGTERM hangs. */
const STOP_MS_MAX = 15_000;

/**
 * The tree of the server to start (by default this one), its number of threads, a module that its process loads first,
 * and the program with flags that it runs under.
 */
export interface ServerOptions {
  readonly root?: string;
  readonly threads?: number;
  readonly preload?: string;
  readonly under?: readonly string[];
  readonly flags?: readonly string[];
}

/**
 * Starts the product as operators do, with one serving thread, but without its caches of rows and responses: each
 * request does its work. The environment disables the second, because an older revision has no such flag.
 */
export function startServer(snapshot: string, options: ServerOptions = {}): Promise<ListeningProcess> {
  const { root = ROOT, threads = 1, preload, under = [], flags = [] } = options;
  const settings = { data: snapshot, port: 0, threads, 'row-set-cache-mb': 0, 'base-url': BENCH_BASE_URL };
  const texts = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const before = preload === undefined ? [] : ['--import', preload];
  const program = [...before, path.join(root, LAUNCHER), 'serve', ...texts, ...flags];
  return startNode([...NO_ANSWERS_KEPT, ...under], program);
}

/** Starts the bare control (control.ts), whose floor views move over `memoryBytes`; `under` is as for the server. */
export function startControl(memoryBytes: number, under: readonly string[] = []): Promise<ListeningProcess> {
  return startNode(under, [fileURLToPath(new URL('./control.ts', import.meta.url)), String(memoryBytes)]);
}

function startNode(under: readonly string[], flags: readonly string[]): Promise<ListeningProcess> {
  const [program, ...rest] = [...under, process.execPath, ...flags];
  return startListening(program!, rest);
}

/** Starts a program that prints `listening on http://HOST:PORT`. Rejects with its output if it does not. */
export async function startListening(
  program: string,
  flags: readonly string[],
  options: SpawnOptions = {},
): Promise<ListeningProcess> {
  const child = spawn(program, flags, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const command = [program, ...flags].join(' ').slice(0, COMMAND_CHARACTERS_MAX);
  try {
    return { pid: child.pid!, port: await portOf(child, command), stop: () => stopped(child) };
  } catch (error) {
    await stopped(child);
    throw error;
  }
}

/** The port in the line `listening on http://HOST:PORT`. */
function portOf(child: ChildProcess, command: string): Promise<number> {
  let printed = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} does not listen:\n${printed}`)), START_MS_MAX);
    // Does not keep this process alive if the program exits early.
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
      // Discards later output, which would otherwise block the program.
      child.stdout!.removeAllListeners('data').resume();
      child.stderr!.removeAllListeners('data').pipe(process.stderr);
      resolve(Number(match[1]));
    };
    child.stdout!.on('data', listen);
    child.stderr!.on('data', listen);
  });
}

/** Stops a child with SIGTERM, and with SIGKILL if that takes too long. */
export async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

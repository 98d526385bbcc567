// Starts the command line, or another program, as a process. `runServer` starts a server on free ports and waits until
// it listens, `runCommand` starts any command, `runProgram` any program, `spawnedCommand` runs a command to its end.
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { ROOT } from './sources.ts';
import { withinLimit } from './waits.ts';

/** The exit of a process, with a code or by a signal. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CommandProcess {
  readonly pid: number;
  readonly ended: Promise<End>;
  out(): string;
  err(): string;
  /**
   * Resolves with the match of a pattern in the text of both outputs. Rejects with that text if the process exits
   * without a match, or after a minute.
   */
  printed(pattern: RegExp, msMax?: number): Promise<RegExpExecArray>;
  /** Closes the reading ends of both outputs. */
  deafen(): void;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM, and SIGKILL if the process has not exited after 15 s. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface Addresses {
  readonly url: string;
  readonly port: number;
  readonly http10Url: string;
  readonly http10Port: number;
}

export interface Server extends CommandProcess, Addresses {
  /** Empty without `--admin-port`. */
  readonly adminUrl: string;
}

/**
 * `environment` is added to that of this process, `node` are flags of Node, `program` replaces Node, `checkout` this
 * checkout.
 */
export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  readonly program?: string;
  readonly checkout?: string;
}

const STOP_MS_MAX = 15_000;
/**
 * Import and compression of thousands of records take up to a minute on a busy machine. A start that takes longer than
 * this has failed.
 */
const START_MS_MAX = 180_000;

/** Runs the command line with these arguments. */
export function runCommand(words: readonly string[], options: CommandOptions = {}): CommandProcess {
  const cli = join(options.checkout ?? ROOT, 'server/commands/cli.ts');
  return runProgram(options.program ?? process.execPath, [...(options.node ?? []), cli, ...words], options);
}

/**
 * Runs a program; `environment` is added to that of this process. With `isGroup`, signals also reach all its child
 * processes, as those of a terminal do.
 */
export function runProgram(
  program: string,
  words: readonly string[],
  options: { environment?: Readonly<Record<string, string>>; directory?: string; isGroup?: boolean } = {},
): CommandProcess {
  const { environment, directory: cwd, isGroup: detached = false } = options;
  const env = { ...process.env, CATALOGUE_LOG_FORMAT: 'people', ...environment };
  const child = spawn(program, words, { env, cwd, detached, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { out: '', err: '' };
  let end: End | undefined;
  let stir: (() => void)[] = [];
  const wake = (): void => {
    const waiting = stir;
    stir = [];
    for (const one of waiting) one();
  };
  const collect = (name: 'out' | 'err') => (piece: Buffer) => {
    text[name] += piece.toString();
    wake();
  };
  child.stdout.on('data', collect('out'));
  child.stderr.on('data', collect('err'));
  const ended = new Promise<End>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      end = { code, signal };
      wake();
      resolve(end);
    });
  });
  return {
    pid: child.pid ?? -1,
    ended,
    out: () => text.out,
    err: () => text.err,
    printed: (pattern, msMax) => {
      const match = async (): Promise<RegExpExecArray> => {
        for (;;) {
          const result = pattern.exec(text.out + text.err);
          if (result) return result;
          if (end) throw new Error(`ended (${end.signal ?? end.code}) without ${pattern}:\n${text.out}${text.err}`);
          await new Promise<void>((resolve) => stir.push(resolve));
        }
      };
      return withinLimit(match(), () => `no ${pattern} in\n${text.out}${text.err}`, msMax);
    },
    deafen: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    signal: (name) => void (detached ? process.kill(-child.pid!, name) : child.kill(name)),
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      await ended;
      clearTimeout(timer);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts a server on free ports of both transports and waits until it listens. */
export async function runServer(words: readonly string[], options: CommandOptions = {}): Promise<Server> {
  const command = runCommand(['serve', '--port', '0', '--http10-port', '0', ...words], options);
  try {
    const [, url, port] = await command.printed(/listening on (http:\/\/[^\s/]+:(\d+))\/?\n/, START_MS_MAX);
    const [, http10Url, http10Port] = await command.printed(
      /listening on (http:\/\/\S+:(\d+)) \(HTTP\/1\.0\)\n[^]*try: /,
    );
    const [, adminUrl] = words.includes('--admin-port') ? await command.printed(/admin on (http:\S+)\/status/) : [];
    return {
      ...command,
      url: url!,
      port: Number(port),
      http10Url: http10Url!,
      http10Port: Number(http10Port),
      adminUrl: adminUrl ?? '',
    };
  } catch (error) {
    await command.kill();
    throw error;
  }
}

/** Starts commands for the tests of a file, and kills those that still run after each test. */
export function endedCommands(): {
  start: typeof runCommand;
  startServe: typeof runCommand;
  startServer(...words: readonly string[]): Promise<Server>;
} {
  const running: CommandProcess[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((command) => command.kill()));
  });
  const ended = <C extends CommandProcess>(command: C): C => {
    running.push(command);
    return command;
  };
  const fast = ['--threads', '1', '--gzip', 'live'];
  return {
    start: (words, options) => ended(runCommand(words, options)),
    startServe: (words, options) => ended(runCommand(['serve', ...fast, ...words], options)),
    startServer: async (...words) => ended(await runServer([...fast, ...words])),
  };
}

/**
 * Runs a command, or another `script`, to its end, without the CATALOGUE_ variables of this process; `node` are flags
 * of Node.
 */
export function spawnedCommand(
  words: readonly string[],
  { script, environment, node = [] }: { script?: string; environment?: object; node?: readonly string[] } = {},
): SpawnSyncReturns<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CATALOGUE_'));
  const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', ...environment };
  const argv = [...node, script ?? join(ROOT, 'server/commands/cli.ts'), ...words];
  return spawnSync(process.execPath, argv, { encoding: 'utf8', env });
}

/** The value of a metric. `name` includes the labels as the text has them. */
export async function metricOf({ adminUrl }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`catalogue_replica_${name} `));
  return Number(line?.split(' ')[1]);
}

/** Resources of a running process. `residentBytes` is its memory in RAM, `descriptors` its open files and sockets. */
export interface Holdings {
  readonly residentBytes: number;
  readonly descriptors: number;
}

const PAGE_BYTES = 4096;

/** Reads the resources from /proc. */
export function holdingsOf(pid: number): Holdings {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return { residentBytes: pages * PAGE_BYTES, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** The open files of a process whose paths contain a text, from /proc. */
export function openFilesOf(pid: number, included: string): readonly string[] {
  const files = readdirSync(`/proc/${pid}/fd`).map((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      // The descriptor was closed meanwhile.
      return '';
    }
  });
  return files.filter((file) => file.includes(included));
}

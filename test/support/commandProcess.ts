// The command line, or another program, as a process of its own: what it prints, how it ends, and what it holds on to
// while it runs. For tests of the whole program; test/support/server.ts is the shorter way to a server that only has to
// answer.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.ts';
import { withinLimit } from './waits.ts';

/** How a process ended: with a code, or by a signal. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A process of the command line. `printed` resolves with the match of a pattern in all it printed, on either output,
 * and rejects with that text when it ends without one, or after a minute. `deafen` closes the reading ends of both
 * outputs. `kill` is for afterwards: it ends a process that a test left running.
 */
export interface CommandProcess {
  readonly pid: number;
  readonly ended: Promise<End>;
  out(): string;
  err(): string;
  printed(pattern: RegExp, msMax?: number): Promise<RegExpExecArray>;
  deafen(): void;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
}

/** Where a server listens, as it prints it. */
export interface Addresses {
  readonly url: string;
  readonly port: number;
  readonly http10Port: number;
}

/** `environment` is added to ours, `node` are flags of Node itself, `program` and `checkout` replace ours. */
export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  readonly program?: string;
  readonly checkout?: string;
}

/** Runs the command line with these words. */
export function runCommand(words: readonly string[], options: CommandOptions = {}): CommandProcess {
  const cli = join(options.checkout ?? ROOT, 'server/commands/cli.ts');
  return runProgram(options.program ?? process.execPath, [...(options.node ?? []), cli, ...words], options);
}

/**
 * Runs a program with these words; `environment` is added to ours. With `isGroup`, signals go to all that it starts
 * too, as those of a terminal do.
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
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts a server on free ports of both transports and waits until it listens. */
export async function runServer(
  words: readonly string[],
  options: CommandOptions = {},
): Promise<CommandProcess & Addresses> {
  const command = runCommand(['serve', '--port', '0', '--http10-port', '0', ...words], options);
  const [, url, port] = await command.printed(/listening on (http:\/\/\S+:(\d+))\n/);
  const [, http10Port] = await command.printed(/listening on http:\/\/\S+:(\d+) \(HTTP\/1\.0\)\n[^]*try: /);
  return { ...command, url: url!, port: Number(port), http10Port: Number(http10Port) };
}

/** What a running process holds. `residentBytes` is its memory in RAM, `descriptors` its open files and sockets. */
export interface Holdings {
  readonly residentBytes: number;
  readonly descriptors: number;
}

const PAGE_BYTES = 4096;

/** What a process holds now, as Linux tells it. */
export function holdingsOf(pid: number): Holdings {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return { residentBytes: pages * PAGE_BYTES, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** The files that a process has open whose paths include a text, as Linux names them. */
export function openFilesOf(pid: number, included: string): readonly string[] {
  const files = readdirSync(`/proc/${pid}/fd`).map((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      // Closed meanwhile.
      return '';
    }
  });
  return files.filter((file) => file.includes(included));
}

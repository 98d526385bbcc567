// The server under test: spawns the command line on free ports and reads from its output where it listens. Knows the
// contract of that output only: `listening on http://HOST:PORT`, followed by ` (HTTP/1.0)` for the second listener.
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A running server. `stop` asks it to drain and resolves when it has ended; `output` is all it printed so far. */
export interface RunningServer {
  readonly url: string;
  readonly http10Url: string | undefined;
  stop(): Promise<void>;
  output(): string;
}

/** Lines as people read them, though no terminal is there. */
const ENVIRONMENT = { ...process.env, CATALOGUE_LOG_FORMAT: 'people' };
const CLI = fileURLToPath(new URL('../../server/commands/cli.ts', import.meta.url));
/** A start that takes this long has failed: thousands of records are imported and compressed in a minute when busy. */
const START_MS_MAX = 180_000;
/** After SIGTERM a server has this long to drain before it is ended. */
const STOP_MS_MAX = 15_000;

/**
 * Starts `serve --data <data>` with both listeners on free ports and further flags. Rejects, with all output, when the
 * process ends or has not printed both addresses in time.
 */
export async function startServer(options: { data: string; flags?: readonly string[] }): Promise<RunningServer> {
  const flags = ['serve', '--data', options.data, '--port', '0', '--http10-port', '0', ...(options.flags ?? [])];
  const child = spawn(process.execPath, [CLI, ...flags], { stdio: ['ignore', 'pipe', 'pipe'], env: ENVIRONMENT });
  let printed = '';
  const output = (): string => printed;
  const addresses = new Promise<Addresses>((resolve, reject) => {
    const listen = (piece: Buffer): void => {
      printed += piece.toString();
      const found = addressesIn(printed);
      if (found) resolve(found);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened:\n${printed}`)));
    setTimeout(() => reject(new Error(`no address after ${START_MS_MAX} ms:\n${printed}`)), START_MS_MAX).unref();
  });
  const stop = (): Promise<void> => stopped(child);
  try {
    return { ...(await addresses), stop, output };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Addresses {
  readonly url: string;
  readonly http10Url: string | undefined;
}

/** Both addresses, or undefined while one is missing. */
function addressesIn(printed: string): Addresses | undefined {
  const lines = [...printed.matchAll(/listening on (http:\/\/[^\s/]+)\/?( \(HTTP\/1\.0\))?\s*\n/g)];
  const url = lines.find((line) => line[2] === undefined)?.[1];
  const http10Url = lines.find((line) => line[2] !== undefined)?.[1];
  return url !== undefined && http10Url !== undefined ? { url, http10Url } : undefined;
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

// Clients that keep their connections and leave when they are told to, as proxies do, on a server that is told to stop:
// what becomes of every request that they have sent.
import { type CommandOptions, runServer } from './commandProcess.ts';
import { type Random } from './random.ts';
import { RawSocket, requestOf } from './rawSocket.ts';

const TARGETS = ['/api/v3/observations/?limit=20', '/api/v3/observations/5/', '/api/v3/', '/nothing', '/healthz'];
const CLIENTS = 8;
/** Pauses between two requests: shorter than any grace, so that everybody asks once more within it. */
const PAUSE_MS_MAX = 60;
/** The signal comes in the middle of requests. */
const BEFORE_MS = 100;

/** What became of the requests of one drain, and how the server ended. */
export interface DrainOutcome {
  readonly answered: number;
  readonly told: number;
  readonly lost: readonly string[];
  readonly end: unknown;
}

/** Starts a server, lets clients ask it over both transports, tells it to stop, and waits until all is over. */
export async function drainUnderLoad(random: Random, options: CommandOptions = {}): Promise<DrainOutcome> {
  const server = await runServer(['--threads', '2', '--drain-grace-seconds', '1'], options);
  try {
    const tally = { answered: 0, told: 0, lost: [] as string[] };
    const ports = [server.port, server.http10Port];
    const clients = Array.from({ length: CLIENTS }, (_, i) => askUntilTold(ports[i % 2]!, random, tally));
    await new Promise((resolve) => setTimeout(resolve, BEFORE_MS + random.integer(0, PAUSE_MS_MAX)));
    server.signal('SIGTERM');
    await Promise.all(clients);
    return { ...tally, end: await server.ended };
  } finally {
    await server.kill();
  }
}

async function askUntilTold(
  port: number,
  random: Random,
  tally: { answered: number; told: number; lost: string[] },
): Promise<void> {
  const socket = await RawSocket.open(port);
  for (let isTold = false; !isTold;) {
    const target = random.pick(TARGETS);
    await socket.write(requestOf('GET', target));
    const answer = await socket.answer();
    if (!answer) return void tally.lost.push(`${target} to ${port}`);
    tally.answered++;
    isTold = answer.headers.get('connection')?.includes('close') === true;
    if (!isTold) await new Promise((resolve) => setTimeout(resolve, random.integer(0, PAUSE_MS_MAX)));
  }
  tally.told++;
  socket.finish();
}

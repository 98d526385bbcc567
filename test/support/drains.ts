// Drains a server under load. Its clients keep their connections and leave after `Connection: close`, as proxies do.
// Each response must equal the one before the load.
import { join } from 'node:path';
import {
  DEMONSTRATION_FILES,
  demonstrationDirectory,
  prepareDemonstration,
} from '../../server/authority/demonstration.ts';
import { epochSeconds } from '../../server/observe/clock.ts';
import { type CommandOptions, runServer } from './commandProcess.ts';
import { roleCall } from './envelopes.ts';
import { type Random } from './random.ts';
import { type RawAnswer, RawSocket, requestOf } from './rawSocket.ts';
import { sampleSnapshot } from './sampleSnapshot.ts';

const LIST = '/api/v3/observations/';
const CALL = roleCall('academic');
const CALL_LINES = ['Content-Type: text/xml', `Content-Length: ${CALL.length}`];
/** The requests by kind. `heavy` runs in the pool; each `n` is another list that matches nothing. */
const REQUESTS: Readonly<Record<string, (n: number) => string>> = {
  list: () => requestOf('GET', `${LIST}?limit=20`),
  record: () => requestOf('GET', `${LIST}141/`),
  root: () => requestOf('GET', '/api/v3/'),
  nothing: () => requestOf('GET', '/nothing'),
  health: () => requestOf('GET', '/healthz'),
  heavy: (n) => requestOf('GET', `${LIST}?abstract__iregex=a.*b.*c.*d${1000 + n}.*e`),
  export: () => requestOf('GET', `${LIST}?format=csv&fields=uuid,title`),
  call: () => requestOf('POST', '/attAuthority.wsdl', CALL_LINES, CALL),
};
const KINDS = Object.keys(REQUESTS);
/** The response to a load balancer's probe after the signal. */
const DRAINING = '503 {"status":"draining"}';
const CLIENTS = 8;
/**
 * Upper bound of the pause between two requests: shorter than any grace, so that every client sends one more within it.
 */
const PAUSE_MS_MAX = 60;
/** Sends the signal in the middle of requests. */
const BEFORE_MS = 100;

/** The requests of one drain by outcome, and how the server exited. */
export interface DrainOutcome {
  readonly answered: number;
  readonly told: number;
  readonly lost: readonly string[];
  readonly end: unknown;
}

/**
 * Starts a server, loads it over both transports, stops it, and waits until all clients have left. A request is lost if
 * it gets no response, or another one than before the load.
 */
export async function drainUnderLoad(random: Random, options: CommandOptions = {}): Promise<DrainOutcome> {
  const authority = join(prepareDemonstration(demonstrationDirectory(), epochSeconds()), DEMONSTRATION_FILES.config);
  const words = ['--data', await sampleSnapshot(), '--authority', authority, '--gzip', 'live', '--threads', '2'];
  const server = await runServer([...words, '--drain-grace-seconds', '3'], options);
  try {
    const ports = [server.port, server.http10Port];
    const tally = { answered: 0, told: 0, lost: [] as string[], wanted: await answersOf(server.port) };
    const clients = Array.from({ length: CLIENTS }, (_, i) => askUntilTold(ports[i % 2]!, random, tally));
    await new Promise((resolve) => setTimeout(resolve, BEFORE_MS + random.integer(0, PAUSE_MS_MAX)));
    server.signal('SIGTERM');
    await Promise.all(clients);
    const { answered, told, lost } = tally;
    return { answered, told, lost, end: await server.ended };
  } finally {
    await server.kill();
  }
}

/** The compared part of a response. */
const compared = (answer: RawAnswer | undefined): string => `${answer?.status} ${answer?.body}`;

/** The response to each kind of request, before the load. */
async function answersOf(port: number): Promise<ReadonlyMap<string, string>> {
  const socket = await RawSocket.open(port);
  const answers = new Map<string, string>();
  for (const [kind, request] of Object.entries(REQUESTS)) {
    await socket.write(request(0));
    answers.set(kind, compared(await socket.answer()));
  }
  socket.vanish();
  return answers;
}

interface DrainTally {
  answered: number;
  told: number;
  readonly lost: string[];
  readonly wanted: ReadonlyMap<string, string>;
}

async function askUntilTold(port: number, random: Random, tally: DrainTally): Promise<void> {
  const socket = await RawSocket.open(port);
  for (let isTold = false; !isTold;) {
    const kind = random.pick(KINDS);
    await socket.write(REQUESTS[kind]!(random.integer(1, 1000)));
    const answer = await socket.answer();
    const came = compared(answer);
    if (came === tally.wanted.get(kind) || (kind === 'health' && came === DRAINING)) tally.answered++;
    else tally.lost.push(`${kind} to ${port}: ${came.slice(0, 300)}`);
    if (!answer) return;
    isTold = answer.headers.get('connection')?.includes('close') === true;
    if (!isTold) await new Promise((resolve) => setTimeout(resolve, random.integer(0, PAUSE_MS_MAX)));
  }
  tally.told++;
  socket.finish();
}

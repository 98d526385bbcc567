// Clients that keep their connections and leave when they are told to, as proxies do, on a server that is told to stop:
// what becomes of every request that they have sent, compared with the answers before.
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
/** By what is asked: as a list that is found in the pool, each time another one that finds nothing. */
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
/** What the probe of load balancers is answered from the signal on. */
const DRAINING = '503 {"status":"draining"}';
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

/**
 * Starts a server, lets clients ask it over both transports, tells it to stop, and waits until all is over. Lost is
 * what got no answer, and what got another one than before.
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

/** What is compared of an answer. */
const compared = (answer: RawAnswer | undefined): string => `${answer?.status} ${answer?.body}`;

/** What each kind of request is answered before anybody loads or stops a server. */
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

// Floods of heavy queries, and clients that leave in the middle of them or of a page: what must not wear a server out.
// Every query here scans twenty long migration properties (longProperties.ts), which is more than the budget of a
// serving thread. The pool is through with all that may wait long before anything has waited too long.
import { clientOf } from './client.ts';
import type { Victim } from './fuzz.ts';
import { RawSocket, requestOf, type RawAnswer } from './rawSocket.ts';

const LIST = '/api/v3/migrationproperties/';
/** More than any flood has. */
const FLOOD_QUERIES_MAX = 10_000;
/** Differs from every other flood's, so that no answer can be taken from a cache. */
let floods = 0;

/** Two characters are too few for the n-gram index, and no two requests have one filter, which they would share. */
function heavyRequest(i: number): string {
  return requestOf('GET', `${LIST}?limit=1&value__contains=%7E%7E&id__lte=20&id!=${floods * FLOOD_QUERIES_MAX + i}`);
}

/** What became of a flood: how often each status was answered, and 503 without Retry-After, each as a sentence. */
export interface FloodOutcome {
  readonly statuses: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
}

/** Sends so many heavy queries at once, each on a connection of its own, and reads all answers. */
export async function flood(port: number, queries: number): Promise<FloodOutcome> {
  floods++;
  const sockets = await Promise.all(Array.from({ length: queries }, () => RawSocket.open(port)));
  await Promise.all(sockets.map((socket, i) => socket.write(heavyRequest(i))));
  const answers = await Promise.all(sockets.map((socket) => socket.answer()));
  for (const socket of sockets) socket.vanish();
  return outcomeOf(answers);
}

function outcomeOf(answers: readonly (RawAnswer | undefined)[]): FloodOutcome {
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  for (const answer of answers) {
    const status = answer?.status ?? 0;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 503 && answer?.headers.get('retry-after') === undefined) faults.push('503 without Retry-After');
  }
  return { statuses, faults };
}

/** Sends so many heavy queries and breaks every connection before an answer can have come. */
export async function abandonedFlood(port: number, queries: number): Promise<void> {
  floods++;
  const sockets = await Promise.all(Array.from({ length: queries }, () => RawSocket.open(port, false)));
  await Promise.all(sockets.map((socket, i) => socket.write(heavyRequest(i))));
  // Answered by the same thread, so that all of the flood has been read by then.
  const client = clientOf(`http://127.0.0.1:${port}`);
  await client.get('/api/v3/');
  client.close();
  for (const socket of sockets) socket.vanish();
}

/** Asks for so many large pages, reads nothing of them, and breaks the connections once the first bytes wait. */
export async function abandonedPages(port: number, pages: number): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: pages }, () => RawSocket.open(port, false)));
  await Promise.all(sockets.map((socket) => socket.write(requestOf('GET', `${LIST}?limit=5000`))));
  const client = clientOf(`http://127.0.0.1:${port}`);
  await client.get('/api/v3/');
  client.close();
  for (const socket of sockets) socket.vanish();
}

/**
 * Asks for large pages on slow connections, which read nothing for a while and then all; answers the bodies' lengths.
 */
export async function slowPages(victim: Victim, pages: number): Promise<readonly (number | undefined)[]> {
  const ports = [victim.port, victim.http10Port].flatMap((port) => Array.from({ length: pages }, () => port));
  const sockets = await Promise.all(ports.map((port) => RawSocket.open(port, false)));
  await Promise.all(sockets.map((socket) => socket.write(requestOf('GET', `${LIST}?limit=5000`))));
  await Promise.all(ports.map((port) => flood(port, 2)));
  for (const socket of sockets) socket.read();
  const answers = await Promise.all(sockets.map((socket) => socket.answer()));
  for (const socket of sockets) socket.vanish();
  return answers.map((answer) => answer?.body.length);
}

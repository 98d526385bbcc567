// A fuzz run against a running server: sends what hostileBytes.ts draws over both transports and collects what is
// wrong. A fault is text for people, with the bytes that caused it; a run without faults gives an empty list. Linux
// only.
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { REQUEST_HEAD_BYTES_MAX } from '../../server/http/framing.ts';
import { clientOf } from './client.ts';
import { type Addresses, type CommandProcess, holdingsOf } from './commandProcess.ts';
import { hostileBytes, hostileRequest, type HostileRequest, textOf } from './hostileBytes.ts';
import { type Random } from './random.ts';
import { type RawAnswer, RawSocket, requestOf } from './rawSocket.ts';

/** The server under attack. */
export type Victim = CommandProcess & Addresses;

/** The longest that a connection may stay open once its client has stalled. */
export const STALL_MS_MAX = 25_000;

/** Connections that are open at once. */
const WIDTH = 64;

interface Transport {
  readonly name: 'uws' | 'node';
  readonly port: number;
}

function transportsOf({ port, http10Port }: Addresses): readonly Transport[] {
  return [
    { name: 'uws', port },
    { name: 'node', port: http10Port },
  ];
}

/**
 * Sends `count` well-formed hostile requests to each transport, each over a connection of its own. Ordinary ones must
 * get one whole answer that is no 5xx, with the same status and body from both transports, JSON where there is a body.
 */
export async function fuzzRequests(victim: Victim, random: Random, count: number): Promise<readonly string[]> {
  const requests = Array.from({ length: count }, () => hostileRequest(random));
  return inBatches(requests, async (request) => {
    const answers = await Promise.all(
      transportsOf(victim).map(async (one) => [one, await exchange(one, request)] as const),
    );
    const faults = answers.flatMap(([{ name }, { received }]) => faultsIn(received, name));
    if (request.isOrdinary && textOf(request).length <= REQUEST_HEAD_BYTES_MAX) {
      faults.push(
        ...disagreements(
          request,
          answers.map(([, { answer }]) => answer),
        ),
      );
    } else if (request.isOrdinary) {
      // Heads beyond the limit are the library's own to refuse, without a body.
      faults.push(
        ...answers.flatMap(([{ name }, { answer }]) => (answer?.status === 431 ? [] : [`no 431 from ${name}`])),
      );
    }
    return faults.map((fault) => `${fault} to ${shown(textOf(request))}`);
  });
}

async function exchange(
  { port }: Transport,
  request: HostileRequest,
): Promise<{ answer: RawAnswer | undefined; received: string }> {
  const socket = await RawSocket.open(port);
  await socket.write(textOf(request));
  if (!request.isOrdinary) socket.finish();
  const answer = await socket.answer(request.method === 'HEAD');
  socket.finish();
  return { answer, received: (answer ? headOf(answer) + answer.body : '') + (await socket.ended()) };
}

function headOf({ version, status, headers }: RawAnswer): string {
  const lines = [...headers].map(([name, values]) => `${name}: ${values.join(', ')}\r\n`).join('');
  return `${version} ${status} x\r\n${lines}\r\n`;
}

/** The body as Latin-1 text, with its coding undone. */
function plainBodyOf({ headers, body }: RawAnswer): string {
  const isGzip = headers.get('content-encoding')?.[0] === 'gzip';
  return isGzip ? gunzipSync(Buffer.from(body, 'latin1')).toString('latin1') : body;
}

function disagreements({ method }: HostileRequest, [uws, node]: readonly (RawAnswer | undefined)[]): string[] {
  if (!uws || !node) return [`no answer (uws ${uws?.status}, node ${node?.status})`];
  if (uws.status === 503 || node.status === 503) return [];
  const faults = uws.status === node.status ? [] : [`status ${uws.status} (uws) and ${node.status} (node)`];
  const isHead = method === 'HEAD';
  const [body, other] = isHead ? [uws.body, node.body] : [plainBodyOf(uws), plainBodyOf(node)];
  if (untimed(body) !== untimed(other)) faults.push('bodies differ');
  const type = uws.headers.get('content-type')?.[0] ?? 'application/json';
  const isPage = type.startsWith('text/html');
  if (!isHead && isPage && !body.startsWith('<!doctype html>')) faults.push('the body is no page');
  if (!isHead && type.startsWith('application/json') && body !== '' && !isJson(body))
    faults.push('the body is no JSON');
  return faults;
}

/** A page for people says how long its records took to find. */
function untimed(body: string): string {
  return body.replace(/(?<=<span class="quiet">in )[\d.,]+ m?s/, '');
}

function isJson(latin1: string): boolean {
  try {
    JSON.parse(Buffer.from(latin1, 'latin1').toString());
    return true;
  } catch {
    return false;
  }
}

/**
 * Sends the bytes of `count` hostile connections to each transport. With `leaves` the client ends its side and the
 * server must end the other; without, the client waits, and the server must end the connection in time.
 */
export async function fuzzBytes(
  victim: Victim,
  random: Random,
  { count, leaves }: { count: number; leaves: boolean },
): Promise<readonly string[]> {
  const connections = transportsOf(victim).flatMap((transport) =>
    Array.from({ length: count }, () => ({ transport, pieces: hostileBytes(random) })),
  );
  const attack = async ({ transport, pieces }: (typeof connections)[number]): Promise<readonly string[]> => {
    const socket = await RawSocket.open(transport.port);
    for (const piece of pieces) await socket.write(piece);
    if (leaves) socket.finish();
    const { received, isLate } = await endOf(socket);
    const faults = faultsIn(received, transport.name);
    if (isLate) faults.push(`a connection to ${transport.name} stays open`);
    return faults.map((fault) => `${fault} after ${shown(Buffer.concat(pieces).toString('latin1'))}`);
  };
  return inBatches(connections, attack, leaves ? WIDTH : connections.length);
}

/** Waits for the server to end a connection, as long as it may take. */
async function endOf(socket: RawSocket): Promise<{ received: string; isLate: boolean }> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    socket.vanish();
  }, STALL_MS_MAX);
  const received = await socket.ended();
  clearTimeout(timer);
  return { received, isLate };
}

const CLIENT_FAULT = /<faultcode>[\w-]+:Client<\/faultcode>/;
const HEAD = /HTTP\/1\.[01] (\d{3}) [^\r\n]*\r\n([^]*?)\r\n\r\n/g;

/**
 * The server errors in what came: all but a 505, to another version of HTTP, a 503 that says when to come back, and a
 * SOAP fault that blames the client, which SOAP 1.1 has under 500.
 */
function faultsIn(received: string, transport: Transport['name']): string[] {
  const heads = [...received.matchAll(HEAD)];
  const bad = heads.filter(([head, status, lines], i) => {
    if (status === '505') return false;
    if (status === '503') return !/^retry-after: \d+/im.test(lines!);
    const body = received.slice(heads[i]!.index + head.length, heads[i + 1]?.index);
    return status!.startsWith('5') && !(status === '500' && CLIENT_FAULT.test(body));
  });
  return bad.map(([, status]) => `${status} from ${transport}`);
}

function shown(bytes: string): string {
  const text = JSON.stringify(bytes);
  return text.length > 600 ? `${text.slice(0, 600)}... (${bytes.length} bytes)` : text;
}

/** Runs `attack` on each, `width` at a time; answers all faults. */
async function inBatches<T>(
  all: readonly T[],
  attack: (one: T) => Promise<readonly string[]>,
  width = WIDTH,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let i = 0; i < all.length; i += width) {
    const found = await Promise.all(all.slice(i, i + width).map(attack));
    faults.push(...found.flat());
  }
  return faults;
}

/** What a server said before and must say after: good answers and bad ones, cheap and heavy. */
const WITNESSES = [
  '/',
  '/api/v3/',
  '/api/v2/observations/?limit=3',
  '/api/v3/observations/?limit=2&offset=20',
  '/api/v3/observations/?title__startswith=A&limit=1',
  '/api/v3/observations/?abstract__contains=a&limit=1',
  '/api/v3/computations/1/',
  '/api/v3/migrationproperties/?limit=1',
  '/api/v3/observations?x',
  '/api/v3/observations/?ob_id=x',
  '/nowhere',
];

/** The answers of both transports to the same questions, as one text to compare. */
export async function testimony(victim: Victim): Promise<string> {
  const statements: string[] = [];
  for (const { name, port } of transportsOf(victim)) {
    const client = clientOf(`http://127.0.0.1:${port}`);
    for (const target of WITNESSES) {
      const { status, body } = await client.get(target);
      statements.push(`${name} ${target}: ${status} ${body}`);
    }
    client.close();
  }
  return statements.join('\n');
}

/** Descriptors that may come and go by themselves: those of pool threads, and connections still being closed. */
export const DESCRIPTORS_SPARE = 12;

/** Waits until a server has let go of the connections it had, then says how many descriptors are still too many. */
export async function leakedDescriptors({ pid }: Victim, before: number): Promise<number> {
  for (let left = STALL_MS_MAX; ; left -= 100) {
    const surplus = Math.max(0, holdingsOf(pid).descriptors - before - DESCRIPTORS_SPARE);
    if (left <= 0 || surplus === 0) return surplus;
    await delay(100);
  }
}

/** Stops a server and answers how it ended and what it complained about meanwhile. */
export async function finalWords(victim: Victim): Promise<{ code: number | null; complaints: readonly string[] }> {
  victim.signal('SIGINT');
  const { code } = await victim.ended;
  const lines = `${victim.out()}\n${victim.err()}`.split('\n');
  return { code, complaints: lines.filter((line) => /bug|error|warn|assert/i.test(line)) };
}

/**
 * A client that sends one byte after the other until the server ends the connection; answers whether it did in time.
 */
export async function dribble(port: number, { head, bytes }: { head: string; bytes: string }): Promise<boolean> {
  const socket = await RawSocket.open(port);
  await socket.write(head);
  const end = endOf(socket);
  let isOver = false as boolean;
  void end.then(() => (isOver = true));
  for (let i = 0; !isOver && bytes !== ''; i++) {
    await socket.write(bytes[i % bytes.length]!);
    await Promise.race([delay(200), end]);
  }
  return !(await end).isLate;
}

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

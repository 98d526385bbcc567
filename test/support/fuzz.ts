// A fuzz run against a running server: sends the input of hostileBytes.ts over both transports and collects the faults.
// A fault is a human-readable text with the bytes that caused it. Linux only.
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

/** The longest time that a connection may stay open once its client has stalled. */
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
 * Sends `count` well-formed hostile requests to each transport, each over a new connection. An ordinary one must get
 * one whole response below 500, with the same status and body from both transports. A body must be JSON.
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
      // The HTTP library refuses heads beyond the limit itself, without a body.
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

/** The uncompressed body as Latin-1 text. */
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

/** Removes the search time that a page shows. */
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
 * server must end the other. Without it the client waits, and the server must end the connection in time.
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

/** Waits until the server ends a connection, at most the allowed time. */
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
 * The server errors in the received text. These are no errors: 505 for another version of HTTP, 503 with Retry-After,
 * and a SOAP fault that blames the client, for which SOAP 1.1 requires 500.
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

/** Runs `attack` on each, `width` at a time. Returns all faults. */
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

/** Requests whose responses must be the same before and after an attack: valid and invalid, cheap and expensive. */
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

/** The responses of both transports to these requests, as one text to compare. */
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

/** Waits until a server has closed the connections of an attack. Returns the number of surplus descriptors. */
export async function leakedDescriptors({ pid }: Victim, before: number): Promise<number> {
  for (let left = STALL_MS_MAX; ; left -= 100) {
    const surplus = Math.max(0, holdingsOf(pid).descriptors - before - DESCRIPTORS_SPARE);
    if (left <= 0 || surplus === 0) return surplus;
    await delay(100);
  }
}

/** Stops a server. Returns its exit code and the complaints in its log. */
export async function finalWords(victim: Victim): Promise<{ code: number | null; complaints: readonly string[] }> {
  victim.signal('SIGINT');
  const { code } = await victim.ended;
  const lines = `${victim.out()}\n${victim.err()}`.split('\n');
  return { code, complaints: lines.filter((line) => /bug|error|warn|assert/i.test(line)) };
}

/** Sends one byte after the other until the server ends the connection. Returns whether it did so in time. */
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
/** More than the number of queries in any flood, so that two floods never send the same query. */
const FLOOD_QUERIES_MAX = 10_000;
/** Numbers the floods, so that no query repeats and no response comes from a cache. */
let floods = 0;

/**
 * Two characters are too few for the n-gram index. Each request has another filter, so that none shares the work of
 * another.
 */
function heavyRequest(i: number): string {
  return requestOf('GET', `${LIST}?limit=1&value__contains=%7E%7E&id__lte=20&id!=${floods * FLOOD_QUERIES_MAX + i}`);
}

/** The outcome of a flood: the number of responses by status, and a sentence for each 503 without Retry-After. */
export interface FloodOutcome {
  readonly statuses: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
}

/** Sends this many heavy queries at once, each on a new connection, and reads all responses. */
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

/** Sends this many heavy queries and breaks every connection before a response can arrive. */
export async function abandonedFlood(port: number, queries: number): Promise<void> {
  floods++;
  const sockets = await Promise.all(Array.from({ length: queries }, () => RawSocket.open(port, false)));
  await Promise.all(sockets.map((socket, i) => socket.write(heavyRequest(i))));
  // The same thread responds to this one, so by then it has read the whole flood.
  const client = clientOf(`http://127.0.0.1:${port}`);
  await client.get('/api/v3/');
  client.close();
  for (const socket of sockets) socket.vanish();
}

/** Requests this many large pages, reads nothing of them, and breaks the connections once the first bytes wait. */
export async function abandonedPages(port: number, pages: number): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: pages }, () => RawSocket.open(port, false)));
  await Promise.all(sockets.map((socket) => socket.write(requestOf('GET', `${LIST}?limit=5000`))));
  const client = clientOf(`http://127.0.0.1:${port}`);
  await client.get('/api/v3/');
  client.close();
  for (const socket of sockets) socket.vanish();
}

/**
 * Requests large pages on slow connections, which read nothing for a while and then everything. Returns the lengths of
 * the bodies.
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

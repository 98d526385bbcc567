// The most expensive legal heads, each at a limit: one after another, sixty of one kind at once, and thousands that one
// client pipelines. Responses must be complete unless pipelining ends the connection, and none may report a bug.
import type { Victim } from '../../support/fuzz.ts';
import type { Random } from '../../support/random.ts';
import { type RawAnswer, RawSocket, requestOf } from '../../support/rawSocket.ts';
import { outcomeOf, type Strain } from '../strain.ts';

/** Requests sent at once. */
export const CROWD = 60;
/** Requests sent one after another. */
export const ALONE = 8;
/** Bytes that a client pipelines: as many as uWebSockets.js reads at once. */
const PIPELINED_BYTES = 1 << 19;
/** Bytes left in a head of 64 kB for its expensive part. */
const ROOM = 58_000;
const LIST = '/api/v3/observations/';

/** Makes a head of a kind. `i` is the number of the request: it keeps cached responses from being hit. */
type Dear = (i: number) => string;

function filled(member: (n: number) => string): string {
  let text = '';
  for (let n = 0; text.length < ROOM; n++) text += member(n);
  return text;
}

const get = (query: string, lines: readonly string[] = []): string => requestOf('GET', `${LIST}?${query}`, lines);

const DEAR: Readonly<Record<string, Dear>> = {
  'a list of identifiers': (i) => get(`limit=1&uuid__in=${filled((n) => `${(n + i) % 10_000},`)}`),
  'a negated list of identifiers': (i) => get(`limit=1&uuid__in!=${filled((n) => `${(n + i) % 10_000},`)}`),
  'a list of ids': (i) => get(`limit=1&ob_id__in=${i}${filled((n) => `,${10_000 + n}`)}`),
  'unknown names, strictly': (i) => get(`strict=1&x${i}=1${filled((n) => `&${'titel'.repeat(11)}${n}=1`)}`),
  'names of fields': (i) => get(`limit=1000&offset=${i % 50}&x=${i}&fields=${'title,uuid,abstract,'.repeat(341)}`),
  'names to order by': (i) => get(`limit=1&x=${i}&ordering=${'title,-uuid,abstract,dataPublishedTime,'.repeat(200)}`),
  facets: (i) =>
    get(
      `limit=1&title__contains=e&ob_id!=-${i}&facets=status,language,keywords,nonGeographicFlag,publicationState,dataLineage`,
    ),
  'regular expressions': (i) => get(`limit=1&title__iregex=(a%7Cb%7C${i})*[a-z]%2B&abstract__regex=x.*y.*${i}`),
  'two letters': (i) => get(`limit=1&abstract__contains=qz&ob_id!=-${i}`),
  'a long Accept': (i) => get(`limit=1&x=${i}`, [`Accept: ${'a/b;q=0.1,'.repeat(ROOM / 10)}`]),
  'a page for people': (i) => requestOf('GET', `/browse/observations/?q${i}=${"'".repeat(ROOM)}`),
  'a page of 1,000': (i) => get(`limit=1000&offset=${i % 50}&x=${i}`),
  CSV: (i) => get(`limit=1000&offset=${i % 50}&x=${i}&format=csv`),
  Parquet: (i) => get(`limit=1000&offset=${i % 50}&x=${i}&format=parquet`),
  'a path of many steps': (i) => requestOf('GET', `/api/v0/obs/get_info${'/a'.repeat(ROOM / 2)}${i}`),
  'a path of slashes': (i) => requestOf('GET', `/browse/${i}${'/'.repeat(ROOM)}`),
  'a path that is decoded': (i) => requestOf('GET', `/%41${i}${'/a'.repeat(ROOM / 2)}`),
  'a path that is near': (i) => requestOf('GET', `/api/v3/observation${i % 10}`),
};

export const KINDS: readonly string[] = Object.keys(DEAR);

/** Requests that may be pipelined by the thousand. */
const CHEAP: Readonly<Record<string, string>> = {
  'HEAD of nothing': requestOf('HEAD', '/nothing'),
  'a path that is near': requestOf('GET', '/api/v3/observation'),
  'a record as a page': get('limit=1'),
  'a page': get('limit=100'),
};

/** One kind, one request after another. */
export const dearHeads: Strain = {
  name: 'dear heads',
  run: async (random, { server }) => {
    const kind = random.pick(KINDS);
    const finds: string[] = [];
    for (let i = 0; i < ALONE; i++) finds.push(...(await sendDear(portOf(server, random), kind, 1)));
    return outcomeOf({ tried: ALONE, finds, what: kind });
  },
};

/** Sixty of one kind at the same moment, on open connections. */
export const crowdedDearHeads: Strain = {
  name: 'dear heads at once',
  isCrowd: true,
  run: async (random, { server }) => {
    const kind = random.pick(KINDS);
    return outcomeOf({ tried: CROWD, finds: await sendDear(portOf(server, random), kind, CROWD), what: kind });
  },
};

/** Thousands of one kind in one write. The server answers each one that it reads, or ends the connection. */
export const pipelined: Strain = {
  name: 'pipelined heads',
  isCrowd: true,
  run: async (random, { server }) => {
    const [what, head] = random.pick(Object.entries(CHEAP));
    const finds: string[] = [];
    for (const port of [server.port, server.http10Port]) {
      const socket = await RawSocket.open(port);
      void socket.write(head.repeat(Math.ceil(PIPELINED_BYTES / head.length)));
      for (let answer; (answer = await socket.answer(head.startsWith('HEAD')));) {
        if (isBug(answer)) finds.push(`${what}: ${answer.status}`);
      }
    }
    return outcomeOf({ tried: 2, finds, what });
  },
};

function portOf({ port, http10Port }: Victim, random: Random): number {
  return random.pick([port, http10Port]);
}

function isBug({ status }: RawAnswer): boolean {
  return status >= 500 && status !== 503;
}

let sent = 0;

/**
 * Sends `count` requests of a kind at once to a port, on open connections. Returns what is wrong with the responses.
 */
export async function sendDear(port: number, kind: string, count: number): Promise<readonly string[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => RawSocket.open(port)));
  const heads = sockets.map(() => DEAR[kind]!(sent++));
  await Promise.all(sockets.map((socket, i) => socket.write(heads[i]!)));
  const answers = await Promise.all(sockets.map((socket) => socket.answer()));
  for (const socket of sockets) socket.vanish();
  return answers.flatMap((answer) =>
    answer && !isBug(answer) ? [] : [`${kind}: ${answer?.status ?? 'no whole answer'}`],
  );
}

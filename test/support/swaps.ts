// Swaps the data of a real server under load. Its clients verify every body in two collections: a response belongs to
// one generation, from its header to its last record, with that generation's count, ids, links and digest.
import { randomBytes } from 'node:crypto';
import { copyFileSync, renameSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, clientOf, type Received } from './client.ts';
import { runServer, type Server } from './commandProcess.ts';
import { dataSetOf, imported, ndjsonOf } from './dataSets.ts';
import { longProperties } from './longProperties.ts';

/** A data set that can be recognised in any response: its records contain its name, and its count is unique. */
export interface Version {
  readonly name: string;
  readonly file: string;
  readonly count: number;
  readonly generation: string;
}

/** A version of this many records of about 100 kB, and as many notes, as a snapshot file. */
export async function versionOf(parent: string, name: string, count: number): Promise<Version> {
  const text = longProperties(count).replaceAll('observation.content.all', `version.${name}`);
  const noted = Array.from({ length: count }, (_, i) => ({ ob_id: i + 1, id: i + 1, key: `version.${name}` }));
  const { file, report } = await imported(
    dataSetOf(parent, { 'migrationproperties.ndjson': text, 'notes.ndjson': ndjsonOf(...noted) }),
  );
  return { name, file, count, generation: report.generation };
}

/** A server over a file that is replaced. `admin` is a client of its admin port. */
export interface SwappedServer extends Server {
  readonly data: string;
  readonly admin: Client;
  /** Replaces the data file by a version, as import would. */
  replace(version: Version): void;
}

/** Starts a server over a copy of a version; `node` are flags of Node. */
export async function swappedServer(
  parent: string,
  first: Version,
  flags: readonly string[] = [],
  node: readonly string[] = [],
): Promise<SwappedServer> {
  const data = `${parent}/served-${randomBytes(4).toString('hex')}.snapshot`;
  const replace = ({ file }: Version): void => {
    copyFileSync(file, `${data}.new`);
    renameSync(`${data}.new`, data);
  };
  replace(first);
  const words = ['--data', data, '--admin-port', '0', '--pin-walks', '--gzip', 'live', ...flags];
  const server = await runServer(words, { node });
  return { ...server, data, admin: clientOf(server.adminUrl), replace };
}

/** The observations of a verifying client. Times are in milliseconds, with the time at which each request was sent. */
export interface Verified {
  readonly faults: readonly string[];
  readonly seen: ReadonlySet<string>;
  readonly waits: readonly { readonly sentMs: number; readonly waitMs: number }[];
}

const LIST = '/api/v3/migrationproperties/';

/** The requests, sent in turn. `fault` returns the error in a response, given the version that its header names. */
const QUESTIONS: readonly {
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  fault(answer: Received, version: Version): string | undefined;
}[] = [
  { target: `${LIST}?limit=2`, fault: pageFault(1) },
  { target: `${LIST}?limit=2&offset=30`, fault: pageFault(31) },
  { target: '/api/v3/notes/?limit=20&offset=40', fault: pageFault(41) },
  { target: `${LIST}?limit=1`, headers: { 'accept-encoding': 'gzip' }, fault: pageFault(1) },
  { target: `${LIST}?value__contains=needle1&limit=1`, fault: searchFault },
  { target: `${LIST}7/`, fault: recordFault },
  { target: `${LIST}?format=ndjson`, fault: exportFault },
  { target: LIST, headers: { 'if-none-match': '"none"' }, fault: pageFault(1) },
];

interface Body {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly { readonly id: number; readonly key: string }[];
}

function textOf({ bytes, headers }: Received): string {
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
}

function strangers(records: Body['results'], { name }: Version): string | undefined {
  const stranger = records.find(({ key }) => key !== `version.${name}`);
  return stranger && `record ${stranger.id} of ${stranger.key} in an answer of ${name}`;
}

function pageFault(firstId: number) {
  return (answer: Received, version: Version): string | undefined => {
    const body = JSON.parse(textOf(answer)) as Body;
    const { count, results } = body;
    if (count !== version.count) return `count ${count} of ${version.count}`;
    const link = linkFault(body, firstId - 1, version);
    if (link !== undefined) return link;
    const strayed = results.findIndex(({ id }, i) => id !== firstId + i);
    return strayed >= 0 ? `id ${results[strayed]!.id} at ${strayed}` : strangers(results, version);
  };
}

/** The first link that does not point to the next or the previous page of this version. */
function linkFault({ next, previous, results, count }: Body, offset: number, version: Version): string | undefined {
  const end = offset + results.length;
  const wanted = [
    ['next', next, end < count ? end : undefined],
    ['previous', previous, offset > 0 ? Math.max(0, offset - results.length) : undefined],
  ] as const;
  for (const [name, link, place] of wanted) {
    const { searchParams } = new URL(link ?? 'http://none');
    const found = link === null ? undefined : Number(searchParams.get('offset') ?? 0);
    if (found !== place) return `${name} leads to ${found}, not ${place}`;
    const pin = searchParams.get('generation');
    if (link !== null && (pin === null || !version.generation.startsWith(pin))) return `${name} is of ${pin}`;
  }
  return undefined;
}

function searchFault(answer: Received, version: Version): string | undefined {
  const { count, results } = JSON.parse(textOf(answer)) as Body;
  const expected = Array.from({ length: version.count }, (_, i) => `${i + 1}`).filter((id) => id.startsWith('1'));
  return count === expected.length ? strangers(results, version) : `found ${count} of ${expected.length}`;
}

function recordFault(answer: Received, version: Version): string | undefined {
  return strangers([JSON.parse(textOf(answer)) as Body['results'][0]], version);
}

function exportFault(answer: Received, version: Version): string | undefined {
  const lines = textOf(answer).trimEnd().split('\n');
  if (lines.length !== version.count) return `${lines.length} lines of ${version.count}`;
  return strangers(
    lines.map((line) => JSON.parse(line) as Body['results'][0]),
    version,
  );
}

/** Sends one request after the other on reused connections until `isOver`, and verifies every response. */
async function verifyingClient(port: number, versions: readonly Version[], isOver: () => boolean): Promise<Verified> {
  const client = clientOf(`http://127.0.0.1:${port}`);
  const faults: string[] = [];
  const seen = new Set<string>();
  const waits: { sentMs: number; waitMs: number }[] = [];
  for (let i = 0; !isOver(); i++) {
    const { target, headers = {}, fault } = QUESTIONS[i % QUESTIONS.length]!;
    const sentMs = performance.now();
    try {
      const answer = await client.get(target, headers);
      waits.push({ sentMs, waitMs: performance.now() - sentMs });
      const named = answer.headers['x-generation'] ?? 'none';
      const version = versions.find(({ generation }) => generation.startsWith(named));
      if (version) seen.add(version.name);
      const wrong = version ? fault(answer, version) : `generation ${named}`;
      if (answer.status !== 200 || wrong !== undefined) faults.push(`${target}: ${answer.status}, ${wrong}`);
    } catch (error) {
      faults.push(`${target}: ${String(error)}`);
    }
  }
  client.close();
  return { faults, seen, waits };
}

/** The number of swaps, their distance, and the number of clients. */
export interface SwapLoad {
  readonly swaps: number;
  readonly clients: number;
  readonly betweenMs?: number;
}

/** Swaps to one version after the other, by POST /reload, while clients of both transports verify their responses. */
export async function swapsUnderLoad(
  server: SwappedServer,
  versions: readonly Version[],
  { swaps, clients, betweenMs = 20 }: SwapLoad,
): Promise<Verified & { readonly swapsMs: readonly number[] }> {
  let isOver = false;
  const swapsMs: number[] = [];
  const ports = Array.from({ length: clients }, (_, i) => (i % 2 === 0 ? server.port : server.http10Port));
  const asking = Promise.all(ports.map((port) => verifyingClient(port, versions, () => isOver)));
  const faults: string[] = [];
  for (let n = 1; n <= swaps; n++) {
    server.replace(versions[n % versions.length]!);
    const { status, body } = await server.admin.send({ method: 'POST', target: '/reload' });
    swapsMs.push(performance.now());
    if (status !== 200 || !body.includes('"swapped"')) faults.push(`swap ${n}: ${status} ${body}`);
    await delay(betweenMs);
  }
  isOver = true;
  const told = await asking;
  return {
    faults: [...faults, ...told.flatMap((one) => one.faults)],
    seen: new Set(told.flatMap((one) => [...one.seen])),
    waits: told.flatMap((one) => one.waits),
    swapsMs,
  };
}

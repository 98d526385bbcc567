// `npm run same -- OLD_CHECKOUT [REQUESTS]`: starts that checkout and this one on the same data and compares statuses,
// headers and bytes of the same requests. For changes that must not change a response. REQUESTS random lists are sent
// (10,000 by default), on the sample and on a random catalogue with odd values. Not compared: Date, Last-Modified (the
// time of the load), Server-Timing and tags, and in bodies signatures, durations and validity. Prints the first
// differences of each kind of request; exit status 1 if there are any.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Credentials, openBenchAuthority } from '../../bench/authority/authorityFiles.ts';
import { markupEscaped } from '../../bench/client/markup.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { randomCatalogue, writeCatalogue } from '../differential/catalogues.ts';
import { dataSetIn, type DataSet } from '../differential/dataset.ts';
import { randomRequest } from '../differential/requests.ts';
import { clientOf, type Client, type Received, type Sent } from './client.ts';
import { runCommand } from './commandProcess.ts';
import { call, roleCall } from './envelopes.ts';
import { hostileTarget } from './hostileBytes.ts';
import { hostileEnvelope } from './hostileEnvelopes.ts';
import { randomOf, RUN_SEED } from './random.ts';
import { ROOT } from './sources.ts';

/** Requests of one kind, such as `records`. */
interface Kind {
  readonly name: string;
  readonly requests: readonly Sent[];
}

interface Server {
  readonly client: Client;
  stop(): Promise<void>;
}

const BASE_URL = 'https://same.test/replica';
const UNCOMPARED_HEADERS = ['date', 'server-timing', 'etag', 'last-modified', 'connection', 'keep-alive'];
const IN_FLIGHT = 8;
const PRINTED_MAX = 5;
const PRINTED_CHARACTERS = 300;
const LISTS = 10_000;
const PAGES_FOR_PEOPLE = 500;
const SOAP_BODIES = 2000;
const SERVICE = '/attAuthority.wsdl';

/** Parts that differ in each response: durations of lists, signatures and validity. */
const VARYING = /(?<=>in )[\d.]+ ms<|(?<=(?:SignatureValue|DigestValue|notBefore|notAfter)(?:[^&<>]*&gt;|>))[^&<]+/g;

const [old, lists = LISTS] = process.argv.slice(2);
if (old === undefined) throw new Error('usage: npm run same -- OLD_CHECKOUT [REQUESTS]');
const random = randomOf(RUN_SEED);
const folder = mkdtempSync(path.join(tmpdir(), 'same-answers-'));
const odd = path.join(folder, 'odd');
writeCatalogue(randomCatalogue(random), odd);
const authority = await openBenchAuthority();
let differing = 0;
try {
  for (const data of [path.join(ROOT, 'data/sample'), odd]) await compareOn(data);
} finally {
  await authority.stop();
  rmSync(folder, { recursive: true });
}
process.exitCode = differing === 0 ? 0 : 1;

async function compareOn(data: string): Promise<void> {
  const servers = await Promise.all([path.resolve(old!), ROOT].map((checkout) => serverOf(checkout, data)));
  try {
    for (const kind of await kindsOf(data, servers[0]!.client)) await compareKind(kind, servers, path.basename(data));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function serverOf(checkout: string, data: string): Promise<Server> {
  const flags = ['--data', data, '--port', '0', '--base-url', BASE_URL, '--threads', '1'];
  const command = runCommand(['serve', ...flags, ...authority.flags], { checkout });
  const [, url] = await command.printed(/listening on (http:\/\/[^\s/]+)\/?\s*\n/);
  const client = clientOf(url!);
  const stop = async (): Promise<void> => {
    client.close();
    command.signal('SIGTERM');
    await command.ended;
  };
  return { client, stop };
}

async function kindsOf(data: string, client: Client): Promise<readonly Kind[]> {
  const dataSet = dataSetIn(data);
  const gets = (targets: readonly string[]): readonly Sent[] => targets.map((target) => ({ target }));
  const names = COLLECTIONS.map(({ name }) => name);
  const roots = [
    '/',
    ...['v2', 'v3'].flatMap((version) => [`/api/${version}/`, `/api/${version}/.json`, `/api/${version}`]),
  ];
  const described = [
    '/openapi.json',
    '/openapi.json?spellings=all',
    '/openapi.yaml',
    '/docs/',
    '/docs/docs.js',
    '/robots.txt',
    '/browse/',
  ];
  const errors = [
    '/nothing',
    '/api/v3/nothing/',
    '/api/v3/observations/x/',
    '/api/v3/observations/?limit=x',
    '/%zz',
    '/?#',
  ];
  const exports = names.flatMap((name) => ['csv', 'ndjson', 'parquet'].map((form) => `/api/v3/${name}.${form}`));
  const methods = ['OPTIONS', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
  return [
    { name: 'lists', requests: Array.from({ length: Number(lists) / 2 }, () => randomRequest(random, dataSet)) },
    { name: 'hostile targets', requests: gets(Array.from({ length: 500 }, () => hostileTarget(random))) },
    { name: 'records', requests: gets(recordPaths(dataSet)) },
    { name: 'roots', requests: gets(roots) },
    { name: 'look-ups', requests: gets(lookUpTargets(dataSet)) },
    { name: 'exports', requests: gets(exports) },
    { name: 'descriptions', requests: gets(described) },
    { name: 'errors', requests: gets(errors) },
    {
      name: 'methods',
      requests: methods.flatMap((method) => [...roots, ...described, ...errors].map((target) => ({ method, target }))),
    },
    { name: 'pages for people', requests: gets(await pagesFrom(client)) },
    { name: 'SOAP', requests: soapRequests() },
  ];
}

function recordPaths(dataSet: DataSet): readonly string[] {
  return COLLECTIONS.flatMap(({ name, documentedPath }) =>
    dataSet.get(name)!.flatMap(({ id }) => [`/api/v3/${name}/${id}/`, `/api/v2/${documentedPath}/${id}.json`]),
  );
}

/** Paths and identifiers of the data, whole and shortened. */
function lookUpTargets(dataSet: DataSet): readonly string[] {
  const texts = new Set<string>();
  for (const name of ['observations', 'observationcollections', 'results', 'identifiers']) {
    for (const { json } of dataSet.get(name) ?? []) {
      for (const [value] of JSON.stringify(json).matchAll(/\/[\w./-]{4,200}|[0-9a-f]{32}/g)) texts.add(value);
    }
  }
  const values = [...texts].slice(0, 200);
  const fixed = ['/api/v0/obs/all', '/api/v0/complete', '/api/v0/drs_listing', '/api/legacy_lookup'];
  const paths = values.flatMap((value) => [value, value.slice(0, -3)]);
  const rest = paths.flatMap((value) => [
    `/api/v0/obs/get_info${value}`,
    `/api/v0/drs_lookup${value}`,
    `/api/legacy_lookup?uuid=${value}`,
  ]);
  return [...fixed, ...rest];
}

/** All linked pages, breadth first. */
async function pagesFrom(client: Client): Promise<readonly string[]> {
  const targets = new Set(['/browse/']);
  for (const target of targets) {
    const { body } = await client.get(target, { accept: 'text/html' });
    for (const [, href = ''] of body.matchAll(/href="([^"#]*)/g)) {
      const { origin, pathname, search } = new URL(href.replaceAll('&amp;', '&'), `${BASE_URL}${target}`);
      const local = `${pathname.replace(/^\/replica/, '')}${search}`;
      if (BASE_URL.startsWith(origin) && targets.size < PAGES_FOR_PEOPLE) targets.add(local);
    }
    if (targets.size === PAGES_FOR_PEOPLE) break;
  }
  return [...targets];
}

function soapRequests(): readonly Sent[] {
  const authorise = ({ chain, attributeCertificate }: Credentials): string =>
    call(
      'reqAuthorisation',
      `<usrProxyCert>${markupEscaped(chain)}</usrProxyCert><usrAttCert>${markupEscaped(attributeCertificate)}</usrAttCert>`,
    );
  const draws: (() => string | Uint8Array)[] = [
    () => hostileEnvelope(random),
    () => hostileEnvelope(random),
    () => roleCall(random.pick(['data-reader', 'staff', 'nobody', ''])),
    () => authorise(random.pick(Object.values(authority.credentials))),
  ];
  const bodies = Array.from({ length: SOAP_BODIES / 2 }, () => random.pick(draws)());
  const headers = { 'content-type': 'text/xml; charset=utf-8' };
  return [{ target: `${SERVICE}?wsdl` }, ...bodies.map((body) => ({ method: 'POST', target: SERVICE, headers, body }))];
}

async function compareKind({ name, requests }: Kind, servers: readonly Server[], data: string): Promise<void> {
  let found = 0;
  for (let i = 0; i < requests.length; i += IN_FLIGHT) {
    await Promise.all(
      requests.slice(i, i + IN_FLIGHT).map(async (request) => {
        const sides = await Promise.all(servers.map(({ client }) => client.send(request)));
        const [before, after] = sides.map(comparedText) as [string, string];
        if (before === after || found++ >= PRINTED_MAX) return;
        process.stdout.write(`${request.method ?? 'GET'} ${request.target}\n${firstDifference(before, after)}\n`);
      }),
    );
  }
  differing += found;
  process.stdout.write(`${data}, ${name}: ${requests.length} requests, ${found} differ\n`);
}

function comparedText({ status, headers, bytes }: Received): string {
  const isText = /text|json|xml|yaml|csv/.test(headers['content-type'] ?? '');
  const body = isText ? bytes.toString() : createHash('sha256').update(bytes).digest('hex');
  const fixed = body.replaceAll(VARYING, '');
  const uncompared = fixed === body ? UNCOMPARED_HEADERS : [...UNCOMPARED_HEADERS, 'content-length'];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const compared = lines.filter((line) => !uncompared.some((name) => line.startsWith(`${name}: `)));
  return [status, ...compared.sort(), fixed].join('\n');
}

/** The text of both sides from their first difference on. */
function firstDifference(before: string, after: string): string {
  let start = 0;
  while (before[start] === after[start]) start++;
  const from = Math.max(0, start - 60);
  const pieceOf = (text: string): string => JSON.stringify(text.slice(from, from + PRINTED_CHARACTERS));
  return `  before ${pieceOf(before)}\n  after  ${pieceOf(after)}`;
}

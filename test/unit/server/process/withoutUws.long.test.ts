// A server without a loadable uWebSockets.js: node:http serves the main port from all threads, reports this once, and
// responds as the other transport does. Tested on versions of Node without a binary of the library, and on ours in a
// checkout that has only the declared dependencies without the library.
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, clientOf, type Received } from '../../../support/client.ts';
import {
  type Addresses,
  type CommandOptions,
  type CommandProcess,
  runServer,
} from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { drainUnderLoad } from '../../../support/drains.ts';
import { roleCall } from '../../../support/envelopes.ts';
import { hasOtherNodes, OTHER_NODES } from '../../../support/ownPackages.ts';
import { randomOf, RUN_SEED } from '../../../support/random.ts';
import { projectFiles, readProjectFile, ROOT } from '../../../support/sources.ts';

/** Copies the product into a new folder, with links to its dependencies except `without`. Returns the folder. */
function strictCheckout(without: readonly string[] = []): string {
  const directory = temporaryDirectory();
  const files = projectFiles().filter((path) => /^(?:package\.json$|(?:engine|data|workers|server)\/)/.test(path));
  for (const path of files) cpSync(join(ROOT, path), join(directory, path));
  const { dependencies } = JSON.parse(readProjectFile('package.json')) as { readonly dependencies: object };
  for (const name of Object.keys(dependencies)) {
    if (without.includes(name)) continue;
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  return directory;
}

const LIST = '/api/v3/observations/';
const GZIP = { 'Accept-Encoding': 'gzip' };
const REQUESTS: readonly (readonly [target: string, headers?: Readonly<Record<string, string>>])[] = [
  ['/api/v3/'],
  [`${LIST}5/`],
  [`${LIST}?limit=3`],
  [`${LIST}?limit=20&offset=460`],
  [`${LIST}?publicationState=citable`],
  [`${LIST}?title__iregex=.*a.*e`],
  [`${LIST}?limit=100`, GZIP],
  [`${LIST}?format=csv`],
  [`${LIST}?format=ndjson`, GZIP],
  [`${LIST}?format=parquet`],
  ['/docs/'],
  ['/docs/swagger-ui-bundle.js'],
  ['/docs/swagger-ui.css'],
  [`${LIST}?status=%zz`],
  ['/attAuthority.wsdl'],
  ['/nothing'],
];
/** Headers that differ from one response to the next. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'date',
  'connection',
  'keep-alive',
  'server-timing',
  'last-modified',
  'uwebsockets',
]);

function compared({ status, headers, bytes }: Received): object {
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name));
  return { status, headers: Object.fromEntries(kept), bytes };
}

/** The number of sockets that listen on a port of 127.0.0.1, of any process. */
function listeningOn(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
  return readFileSync('/proc/net/tcp', 'utf8').split(address).length - 1;
}

const BASE = ['--threads', '2', '--base-url', 'https://a.example.org'];
let usual: CommandProcess & Addresses;
beforeAll(async () => void (usual = await runServer(BASE)));
afterAll(() => usual.kill());

const WITHOUT: readonly (readonly [system: string, isThere: boolean, options: CommandOptions, reason: RegExp])[] = [
  ...OTHER_NODES.map(([major, program]) => {
    const reason = new RegExp(`on Node ${major}\\.\\S+ linux x64 \\(Error: Cannot find module `);
    return [`Node ${major}`, hasOtherNodes, { program }, reason] as const;
  }),
  [
    'ours, in a strict checkout without the library',
    true,
    { checkout: strictCheckout(['uWebSockets.js']) },
    /Cannot find package 'uWebSockets\.js'/,
  ],
];
describe.each(WITHOUT)('on %s', (_, isThere, options, reason) => {
  let server: (CommandProcess & Addresses) | undefined;
  let clients: readonly Client[] = [];
  beforeAll(async () => {
    if (!isThere) return;
    server = await runServer(BASE, options);
    clients = [usual, server].map(({ url }) => clientOf(url));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await server?.kill();
  });

  test.skipIf(!isThere)('serves with node:http in every thread, and reports that once, with the reason', () => {
    const said = server!
      .err()
      .split('\n')
      .filter((line) => line.startsWith('node:http serves, more slowly: '));
    expect(said).toEqual([expect.stringMatching(reason)]);
    if (process.platform === 'linux') expect(listeningOn(server!.port)).toBe(2);
  });

  test.skipIf(!isThere)('gives every response of the usual transport', async () => {
    for (const [target, headers] of REQUESTS) {
      const [expected, got] = await Promise.all(clients.map((client) => client.get(target, headers)));
      expect([target, compared(got!)]).toEqual([target, compared(expected!)]);
      const tag = expected!.headers['etag'];
      if (tag === undefined) continue;
      const again = await clients[1]!.get(target, { ...headers, 'If-None-Match': tag });
      expect([target, again.status, again.bytes.length]).toEqual([target, 304, 0]);
    }
  });

  test.skipIf(!isThere)('gives the same responses of the attribute authority', async () => {
    const call = { method: 'POST', target: '/attAuthority.wsdl', headers: { 'Content-Type': 'text/xml' } };
    const answers = await Promise.all(clients.map((client) => client.send({ ...call, body: roleCall('staff') })));
    expect(answers[0]!.status).toBe(200);
    expect(compared(answers[1]!)).toEqual(compared(answers[0]!));
  });

  test.skipIf(!isThere)(`drains without a loss (seed ${RUN_SEED})`, async () => {
    const { answered, told, lost, end } = await drainUnderLoad(randomOf(RUN_SEED), options);
    expect({ lost, end }).toEqual({ lost: [], end: { code: 0, signal: null } });
    expect(told).toBeGreaterThan(0);
    expect(answered).toBeGreaterThan(told);
  });
});

// Responses far larger than any buffer: complete, with the announced length, and at flat memory however slowly they are
// read. One server with 5,000 generated observations and the records that they link to; the kernel measures the memory.
import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generate } from '../../data/synth/generate.ts';
import { holdingsOf, runServer } from '../support/commandProcess.ts';
import { imported, temporaryDirectory } from '../support/dataSets.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';

const OBSERVATIONS = 5000;
/** Allowed growth of resident memory: collections, compiled code, socket buffers. A retained response takes 17 MB. */
const GROWTH_BYTES_MAX = 48 << 20;
/** Clients that do not read: 30 responses of 17 MB are ten times the allowed growth. */
const STALLED = 30;
const LIST = '/observations/';
const LARGE: readonly (readonly [kind: string, target: string])[] = [
  ['neighbours', `/api/v3${LIST}?limit=1000000`],
  ['scattered rows', `/api/v3${LIST}?limit=1000000&publicationState__in=published,citable,working`],
  ['v2', `/api/v2${LIST}?limit=20000`],
  ['cut records', `/api/v3${LIST}?limit=20000&fields=abstract,title,permissions,projects,phenomena,ob_id`],
  ['ndjson', `/api/v3${LIST}?format=ndjson`],
  ['ndjson of v2', `/api/v2${LIST}?format=ndjson`],
  ['csv', `/api/v3${LIST}?format=csv`],
  ['parquet', `/api/v3${LIST}?format=parquet&ordering=uuid`],
];

/** Responses that are assembled from stored blocks if the client accepts gzip. */
const STITCHED: readonly string[] = ['neighbours', 'scattered rows', 'ndjson'];

const directory = temporaryDirectory();
let server: Awaited<ReturnType<typeof runServer>>;

beforeAll(async () => {
  const data = join(directory, 'data');
  await generate({ observations: OBSERVATIONS, seed: 3, directory: data }, () => undefined);
  const { file } = await imported(data, { file: join(directory, 'large.snapshot') });
  server = await runServer(['--data', file, '--threads', '1', '--gzip', 'stored']);
});
afterAll(() => server.kill());

interface Read {
  readonly announced: number;
  readonly bytes: number;
  readonly hash: string;
}

/** Reads a whole response without keeping it. The hash is of the decoded body. */
function readAll(port: number, path: string, coding = 'identity'): Promise<Read> {
  return new Promise((resolve, reject) => {
    const headers = { 'Accept-Encoding': coding };
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (incoming) => {
      const hash = createHash('sha256');
      let bytes = 0;
      incoming.on('data', (piece: Buffer) => (bytes += piece.length));
      const isGzip = incoming.headers['content-encoding'] === 'gzip';
      const plain = isGzip ? incoming.pipe(createGunzip()) : incoming;
      plain.on('data', (piece: Buffer) => hash.update(piece));
      for (const stream of [incoming, plain]) stream.once('error', reject);
      plain.once('end', () =>
        resolve({ announced: Number(incoming.headers['content-length']), bytes, hash: hash.digest('hex') }),
      );
    }).once('error', reject);
  });
}

describe.each(LARGE)('large responses: %s', (_kind, target) => {
  test('arrive completely over both listeners, with the announced length', async () => {
    const [first, second] = [await readAll(server.port, target), await readAll(server.http10Port, target)];
    expect(first.bytes).toBe(first.announced);
    expect(first.bytes).toBeGreaterThan(3 << 19);
    expect(second).toEqual(first);
  });
});

test.each(LARGE.filter(([kind]) => STITCHED.includes(kind)))(
  'sends the same with gzip in fewer bytes: %s',
  async (_kind, target) => {
    const plain = await readAll(server.port, target);
    for (const port of [server.port, server.http10Port]) {
      const gzipped = await readAll(port, target, 'gzip');
      expect(gzipped.bytes).toBe(gzipped.announced);
      expect(gzipped.bytes).toBeGreaterThan(1 << 20);
      expect(gzipped.bytes).toBeLessThan(plain.bytes / 2);
      expect(gzipped.hash).toBe(plain.hash);
    }
  },
);

// Only Linux makes the memory of a process easy to read.
test.skipIf(process.platform !== 'linux')(
  'keeps memory flat when responses are read repeatedly, and when many are not read',
  async () => {
    const before = holdingsOf(server.pid).residentBytes;
    for (const [, target] of LARGE) await readAll(server.port, target);
    const sockets: RawSocket[] = [];
    for (let i = 0; i < STALLED; i++) {
      const socket = await RawSocket.open(i % 2 === 0 ? server.port : server.http10Port, false);
      const coding = i % 3 === 0 ? ['Accept-Encoding: gzip'] : [];
      await socket.write(requestOf('GET', LARGE[i % LARGE.length]![1], coding));
      sockets.push(socket);
    }
    // The same thread answers these after all the others.
    for (const port of [server.port, server.http10Port]) await readAll(port, LARGE[1]![1]);
    const growth = holdingsOf(server.pid).residentBytes - before;
    for (const socket of sockets) socket.vanish();
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  },
);

// Compressed responses as clients read them, over both transports: node:zlib, curl, gzip, libdeflate and Python's zlib
// all accept every stream, and read the bytes of the identity response. chromium.long.test.ts covers Chromium.
import { spawn } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, type Client, type Received } from '../support/client.ts';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const LIST = '/api/v3/observations/';

/**
 * Every way to make a compressed response: neighbours, scattered rows, runs, an order, lines, records, and no stored
 * blocks.
 */
const TARGETS: readonly string[] = [
  LIST,
  `${LIST}?limit=1&offset=7`,
  `${LIST}?limit=5&offset=11`,
  `${LIST}?limit=100000`,
  `${LIST}?publicationState=citable&offset=3`,
  `${LIST}?ordering=-title&limit=60`,
  `${LIST}?facets=status,title&limit=20`,
  `${LIST}?publicationState__in=published,citable&format=ndjson`,
  `${LIST}?format=ndjson`,
  '/api/v3/times/',
  '/api/v3/phenomena/?limit=1000',
  `${LIST}?fields=title,uuid`,
  `${LIST}?format=csv&limit=100`,
  '/api/v2/observations/',
];

let server: Server;
beforeAll(async () => {
  server = await runServer(['--data', await sampleSnapshot()]);
});
afterAll(() => server.stop());

/** Output of a program for bytes on its input. Rejects with its error output if it exits with an error. */
function outputOf(program: string, flags: readonly string[], input: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, flags, { stdio: ['pipe', 'pipe', 'pipe'] });
    const pieces: Buffer[] = [];
    let complaint = '';
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.stderr.on('data', (piece: Buffer) => (complaint += piece.toString()));
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(Buffer.concat(pieces)) : reject(new Error(`${program} ended with ${code}: ${complaint}`)),
    );
    child.stdin.end(input);
  });
}

// Strict: the member ends the stream, nothing follows it, and checksum and length are compared.
const PYTHON = `
import sys, zlib
reader = zlib.decompressobj(31)
plain = reader.decompress(sys.stdin.buffer.read()) + reader.flush()
assert reader.eof and not reader.unused_data and not reader.unconsumed_tail
sys.stdout.buffer.write(plain)
`;

const GZIP = { 'accept-encoding': 'gzip' };

const READERS = [
  ['gzip', 'gzip', ['-dc']],
  ['libdeflate', 'libdeflate-gunzip', ['-c']],
  ['Python', 'python3', ['-c', PYTHON]],
] as const;

describe.each(['uWebSockets.js', 'node:http'])('compressed responses over %s', (transport) => {
  let client: Client;
  const url = (): string => (transport === 'node:http' ? server.http10Url : server.url);
  beforeAll(() => {
    client = clientOf(url());
  });
  afterAll(() => client.close());

  async function bothForms(target: string): Promise<{ plain: Received; gzipped: Received }> {
    const plain = await client.get(target);
    const gzipped = await client.get(target, GZIP);
    expect([plain.status, gzipped.status], target).toEqual([200, 200]);
    return { plain, gzipped };
  }

  test.each(TARGETS)('are smaller for %s, and decompress to the same bytes', async (target) => {
    const { plain, gzipped } = await bothForms(target);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gzipped.headers['content-encoding']).toBe('gzip');
    expect(gzipped.headers['content-type']).toBe(plain.headers['content-type']);
    expect(gzipped.headers['etag']).not.toBe(plain.headers['etag']);
    for (const { headers } of [plain, gzipped]) expect(headers['vary']).toBe('Accept, Accept-Encoding');
    expect(Number(gzipped.headers['content-length'])).toBe(gzipped.bytes.length);
    expect(gzipped.bytes.length).toBeLessThan(plain.bytes.length);
    expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true);
    expect(() => gunzipSync(gzipped.bytes.subarray(0, -1))).toThrow();
  });

  test.skipIf(!hasProgram('curl'))('equal the identity response for curl --compressed', async () => {
    for (const target of TARGETS) {
      const read = await outputOf('curl', ['-sS', '--compressed', `${url()}${target}`], Buffer.alloc(0));
      expect(read.equals((await client.get(target)).bytes), target).toBe(true);
    }
  });

  test('are not made for bodies within a packet or too long to compress live, errors and root views', async () => {
    for (const target of [`${LIST}?limit=0&offset=9999`, `${LIST}?format=csv`, '/api/v3/', '/', '/api/v3/nothing/']) {
      const { headers } = await client.get(target, GZIP);
      expect(headers['content-encoding'], target).toBeUndefined();
    }
  });

  test('have the same headers for HEAD as for GET, in both forms', async () => {
    for (const target of TARGETS) {
      for (const codings of ['gzip', 'identity']) {
        const headers = { 'accept-encoding': codings };
        const [get, head] = [await client.get(target, headers), await client.send({ method: 'HEAD', target, headers })];
        for (const name of ['content-length', 'content-encoding', 'etag', 'vary']) {
          expect(head.headers[name], `${name} of ${target}`).toBe(get.headers[name]);
        }
      }
    }
  });

  test.each(['gzip', 'gzip, identity;q=0', 'br'])(
    'revalidate with a 304 that carries the tag of the 200, each time: %s',
    async (codings) => {
      for (const target of [...TARGETS, `${LIST}?limit=0&offset=9999`, '/api/v3/', '/']) {
        const ask = (condition: Record<string, string>): Promise<Received> =>
          client.get(target, { ...condition, 'accept-encoding': codings });
        const { etag, 'last-modified': modified } = (await ask({})).headers;
        const conditions = [{ 'if-none-match': '*' }, { 'if-modified-since': modified! }, { 'if-none-match': etag! }];
        for (const condition of [...conditions, { 'if-none-match': `"x", W/${etag}` }, ...conditions]) {
          const { status, headers, bytes } = await ask(condition);
          expect([status, headers['etag'], bytes.length], `${target} ${JSON.stringify(condition)}`).toEqual([
            304,
            etag,
            0,
          ]);
        }
      }
    },
  );

  test('have another tag than the other form', async () => {
    for (const target of [LIST, '/api/v2/observations/']) {
      const { plain, gzipped } = await bothForms(target);
      const status = async (tag: string, codings: string): Promise<number> =>
        (await client.get(target, { 'if-none-match': tag, 'accept-encoding': codings })).status;
      for (const round of [1, 2]) {
        const [identity, compressed] = [plain.headers['etag']!, gzipped.headers['etag']!];
        expect([round, await status(identity, 'gzip'), await status(compressed, 'gzip')]).toEqual([round, 200, 304]);
        expect([round, await status(identity, 'br'), await status(compressed, 'br')]).toEqual([round, 304, 200]);
      }
    }
  });

  test('have a separate tag if gzip does not pay', async () => {
    const target = `${LIST}?limit=0&offset=9999`;
    const only = await client.get(target, { 'accept-encoding': 'gzip, identity;q=0' });
    const again = await client.get(target, { 'accept-encoding': 'gzip', 'if-none-match': only.headers['etag']! });
    expect([only.headers['content-encoding'], again.status, again.headers['content-encoding']]).toEqual([
      'gzip',
      200,
      undefined,
    ]);
  });
});

test('sends the same streams over node:http and uWebSockets.js', async () => {
  const [client, http10] = [clientOf(server.url), clientOf(server.http10Url)];
  for (const target of TARGETS) {
    const [one, other] = await Promise.all([client, http10].map((each) => each.get(target, GZIP)));
    expect(other!.bytes.equals(one!.bytes), target).toBe(true);
  }
  client.close();
  http10.close();
});

for (const [name, program, flags] of READERS) {
  test.skipIf(!hasProgram(program))(
    `reads the identity response from every compressed stream with ${name}`,
    async () => {
      const client = clientOf(server.url);
      for (const target of TARGETS) {
        const [plain, gzipped] = [await client.get(target), await client.get(target, GZIP)];
        if (program === 'gzip') await outputOf('gzip', ['-t'], gzipped.bytes);
        expect((await outputOf(program, flags, gzipped.bytes)).equals(plain.bytes), target).toBe(true);
      }
      client.close();
    },
  );
}

test.each([
  ['live', '-z"'],
  ['off', undefined],
])('compresses no records in advance with --gzip %s', async (mode, end) => {
  const other = await runServer(['--data', await sampleSnapshot(), '--gzip', mode]);
  const client = clientOf(other.url);
  try {
    const { headers, bytes } = await client.get(LIST, { 'accept-encoding': 'gzip, identity;q=0' });
    expect(other.out() + other.err()).not.toContain('compressed records');
    expect(headers['content-encoding']).toBe(end && 'gzip');
    expect(headers['vary']).toBe(end ? 'Accept, Accept-Encoding' : 'Accept');
    if (end) expect(headers['etag']?.endsWith(end)).toBe(true);
    const plain = end ? gunzipSync(bytes) : bytes;
    expect(plain.equals((await client.get(LIST)).bytes)).toBe(true);
  } finally {
    client.close();
    await other.stop();
  }
});

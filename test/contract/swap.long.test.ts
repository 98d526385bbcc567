// New data in a real server without a restart: nothing is lost or mixed, a response that began in one generation ends
// in it, and any error in the new data leaves the served data unchanged.
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeDirectory, schemaHash } from '../../engine/snapshot/directory.ts';
import { encodeHeader, HEADER_BYTES } from '../../engine/snapshot/header.ts';
import { clientOf } from '../support/client.ts';
import { holdingsOf, openFilesOf, runServer } from '../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../support/dataSets.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { type SwappedServer, swappedServer, swapsUnderLoad, type Version, versionOf } from '../support/swaps.ts';

const directory = temporaryDirectory();
const LIST = '/api/v3/migrationproperties/';
const POLL = { timeout: 30_000, interval: 100 };
let a: Version;
let b: Version;
let server: SwappedServer;
beforeAll(async () => {
  [a, b] = [await versionOf(directory, 'a', 80), await versionOf(directory, 'b', 81)];
  server = await swappedServer(directory, a, ['--threads', '2']);
});
afterAll(async () => {
  server.admin.close();
  await server.kill();
});

/** The full name of the generation that responses carry. */
async function served(): Promise<string> {
  const client = clientOf(server.url);
  const { headers } = await client.send({ method: 'HEAD', target: `${LIST}?limit=1` });
  client.close();
  return headers['x-generation']!;
}

async function order(path: string): Promise<{ code: number; status: string; served: string; reason?: string }> {
  const { status: code, body } = await server.admin.send({ method: 'POST', target: path });
  return { code, ...(JSON.parse(body) as { status: string; served: string }) };
}

describe('a server swaps to new data', () => {
  test('under load on both ports, without a lost, late or mixed response', async () => {
    const { faults, seen, waits } = await swapsUnderLoad(server, [a, b], { swaps: 6, clients: 4 });
    expect(faults).toEqual([]);
    expect([...seen].toSorted()).toEqual(['a', 'b']);
    expect(waits.length).toBeGreaterThan(20);
    expect(await served()).toBe(a.generation.slice(0, 12));
  });

  test('during a response, which ends as it began and then releases the memory', async () => {
    const before = await served();
    const old = before === a.generation.slice(0, 12) ? a : b;
    // Makes the threads write rows in every form: the buffers that they used must not keep old data either.
    for (let i = 0; i < 16; i++) {
      const client = clientOf(server.url);
      for (const format of ['csv', 'ndjson', 'parquet']) await client.get(`${LIST}?limit=2&format=${format}`);
      client.close();
    }
    const sockets = await Promise.all([server.port, server.http10Port].map((port) => RawSocket.open(port, false)));
    await Promise.all(sockets.map((socket) => socket.write(requestOf('GET', `${LIST}?limit=5000`))));
    const descriptors = (): number => holdingsOf(server.pid).descriptors;
    const held = descriptors();
    server.replace(old === a ? b : a);
    expect(await order('/reload')).toMatchObject({ code: 200, status: 'swapped' });
    expect(await served()).not.toBe(before);
    const told = (text: string): number => server.out().split(text).length - 1;
    const taken = (): number => told(`, generation ${before}\n`);
    const freed = (): number => told(`generation ${before}: nobody reads it any more`);
    expect(freed()).toBeLessThan(taken());
    for (const socket of sockets) socket.read();
    for (const socket of sockets) {
      const { headers, body } = (await socket.answer())!;
      expect(headers.get('x-generation')).toEqual([before]);
      const { count, results } = JSON.parse(Buffer.from(body, 'latin1').toString()) as {
        count: number;
        results: readonly { key: string }[];
      };
      expect([count, results.length]).toEqual([old.count, old.count]);
      expect(new Set(results.map(({ key }) => key))).toEqual(new Set([`version.${old.name}`]));
      socket.vanish();
    }
    await expect.poll(freed, POLL).toBe(taken());
    await expect.poll(descriptors, POLL).toBeLessThanOrEqual(held);
  });

  test('with a report of clients that read replaced data, and closes them if new data finds too little memory', async () => {
    const sockets = await slowReaders(server);
    const other = (await served()) === a.generation.slice(0, 12) ? b : a;
    server.replace(other);
    expect(await order('/reload')).toMatchObject({ code: 200, status: 'swapped' });
    await expect.poll(() => replaced(server), POLL).toMatchObject({ generations: 1, readers: 2 });
    expect((await replaced(server)).bytes).toBeGreaterThan(8_000_000);
    vast(server.data);
    expect(await order('/reload')).toMatchObject({
      code: 422,
      reason: expect.stringMatching(
        / are free: .*; replaced data held [\d.]+ MB: its 2 readers were closed$/,
      ) as string,
    });
    await expect.poll(() => replaced(server), POLL).toEqual(NOTHING_REPLACED);
    await expectCut(sockets);
    server.replace(other);
  });

  test('and closes clients that read replaced data after a time limit, which frees its memory', async () => {
    const hasty = await swappedServer(directory, a, ['--threads', '2', '--replaced-seconds', '1']);
    try {
      for (const next of [b, a, b]) {
        const sockets = await slowReaders(hasty);
        hasty.replace(next);
        expect(await hasty.admin.send({ method: 'POST', target: '/reload' })).toMatchObject({ status: 200 });
        const current = await slowReaders(hasty);
        await expect.poll(() => replaced(hasty), POLL).toEqual(NOTHING_REPLACED);
        await expectCut(sockets);
        for (const socket of current) socket.read();
        for (const socket of current) expect(await socket.answer()).toMatchObject({ status: 200 });
        for (const socket of current) socket.vanish();
      }
      expect(hasty.out()).toMatch(/^generation [0-9a-f]{12}: its readers are closed after 1 s$/m);
    } finally {
      hasty.admin.close();
      await hasty.kill();
    }
  });

  test('on SIGHUP, and to the previous one on POST /rollback, back and forth', async () => {
    const first = await served();
    server.replace(first === a.generation.slice(0, 12) ? b : a);
    server.signal('SIGHUP');
    await expect.poll(served, POLL).not.toBe(first);
    const second = await served();
    expect(await order('/rollback')).toMatchObject({ code: 200, status: 'swapped' });
    expect(await served()).toBe(first);
    expect(await order('/rollback')).toMatchObject({ code: 200, status: 'swapped' });
    expect(await served()).toBe(second);
    expect(await order('/reload')).toMatchObject({ code: 200, status: 'unchanged' });
  });

  test('of a directory too, and rolls back to the previous data', async () => {
    const data = dataSetOf(directory, { 'migrationproperties.ndjson': '{"id":1,"key":"a"}\n' });
    const one = await runServer([
      '--data',
      data,
      '--admin-port',
      '0',
      '--base-url',
      'http://x.test',
      '--gzip',
      'stored',
    ]);
    const [, origin] = await one.printed(/admin on (http:\/\/127\.0\.0\.1:\d+)\/status\n/);
    const [admin, client] = [clientOf(origin!), clientOf(one.url)];
    const ordered = async (path: string): Promise<unknown> =>
      (JSON.parse((await admin.send({ method: 'POST', target: path })).body) as { status: string }).status;
    const count = async (): Promise<unknown> =>
      (JSON.parse((await client.get(`${LIST}?limit=1`)).body) as { count: number }).count;
    expect([await ordered('/rollback'), await ordered('/reload')]).toEqual(['refused', 'unchanged']);
    appendFileSync(join(data, 'migrationproperties.ndjson'), '{"id":2,"key":"b"}\n');
    expect([await ordered('/reload'), await count()]).toEqual(['swapped', 2]);
    for (const left of [1, 2, 1]) expect([await ordered('/rollback'), await count()]).toEqual(['swapped', left]);
    // The served snapshot, and the one for a rollback.
    expect(openFilesOf(one.pid, 'imported.snapshot')).toHaveLength(2);
    expect(readdirSync(data)).toEqual(['migrationproperties.ndjson']);
    admin.close();
    client.close();
    await one.kill();
  });

  test('and answers 410 to a walk that began in the previous generation', async () => {
    const client = clientOf(server.url);
    const { next } = JSON.parse((await client.get(`${LIST}?limit=1`)).body) as { next: string };
    const { pathname, search } = new URL(next);
    server.replace((await served()) === a.generation.slice(0, 12) ? b : a);
    expect(await order('/reload')).toMatchObject({ status: 'swapped' });
    expect(await client.get(pathname + search)).toMatchObject({ status: 410 });
    client.close();
  });

  test('but not on a request from a web page, and on POST alone', async () => {
    const page = { method: 'POST', target: '/reload', headers: { origin: 'http://a.example.org' } };
    expect(await server.admin.send(page)).toMatchObject({ status: 403 });
    const { status, headers } = await server.admin.get('/reload');
    expect([status, headers['allow']]).toEqual([405, 'POST']);
    const client = clientOf(server.url);
    expect(await client.send({ method: 'POST', target: '/reload' })).toMatchObject({ status: 404 });
    client.close();
  });
});

describe('a server that reloads', () => {
  test.each([
    ['empty', () => writeFileSync(server.data, ''), /file has 0 bytes, a header takes 128$/],
    ['cut short', () => truncateSync(server.data, 100_000), /file has 100000 bytes, expected \d+$/],
    ['damaged', () => damage(server.data), /section \S+: checksum [0-9a-f]+, expected [0-9a-f]+$/],
    ['no snapshot', () => writeFileSync(server.data, 'x'.repeat(1000)), /not a snapshot/],
    [
      'too large for memory',
      () => vast(server.data),
      /takes 42\.9 GB beside what is served, and [\d.]+ [GM]B are free: make room/,
    ],
    ['gone', () => rmSync(server.data), /there is no data at /],
    ['a directory of a broken data set', () => brokenDirectory(server.data), /migrationproperties\.ndjson:1/],
  ])('keeps its data and reports the reason if the new data is %s', async (_, spoil, reason) => {
    const before = await served();
    rmSync(server.data, { recursive: true, force: true });
    server.replace((await served()) === a.generation.slice(0, 12) ? b : a);
    spoil();
    const answer = await order('/reload');
    expect(answer).toMatchObject({ code: 422, status: 'refused', reason: expect.stringMatching(reason) as string });
    expect(answer.served.slice(0, 12)).toBe(before);
    expect(await served()).toBe(before);
    expect(JSON.parse((await server.admin.get('/status')).body)).toMatchObject({
      lastChange: { status: 'refused', reason: answer.reason },
    });
    expect(server.out()).toContain(`the new data is not taken, generation ${before} goes on: ${answer.reason}`);
    expect(await server.admin.get('/readyz')).toMatchObject({ status: 200 });
  });

  test('answers each of several concurrent requests', async () => {
    rmSync(server.data, { recursive: true, force: true });
    server.replace((await served()) === a.generation.slice(0, 12) ? b : a);
    const orders = await Promise.all([order('/reload'), order('/reload'), order('/rollback'), order('/reload')]);
    expect(orders.map(({ code }) => code)).toEqual([200, 200, 200, 200]);
  });
});

/** A file that claims to contain 40 GB of one column, mostly a hole. */
function vast(file: string): void {
  const offset = HEADER_BYTES;
  const each = 2 ** 31;
  const sections = Array.from({ length: 20 }, (_, i) => {
    return {
      name: `vast${i}`,
      offset: offset + i * each,
      bytes: each,
      checksum: 0,
      digest: '0'.repeat(64),
      width: 1 as const,
    };
  });
  const bytes = encodeDirectory({ schema: schemaHash(), created: undefined, sections });
  const directoryOffset = offset + sections.length * each;
  // A new file, because the server keeps the previous one open for a rollback.
  rmSync(file);
  const descriptor = openSync(file, 'w');
  ftruncateSync(descriptor, directoryOffset);
  writeSync(descriptor, bytes, 0, bytes.length, directoryOffset);
  const header = encodeHeader(directoryOffset, bytes);
  writeSync(descriptor, header, 0, header.length, 0);
  closeSync(descriptor);
}

/** One client per port: each requests more than a socket buffers, and reads nothing. */
async function slowReaders({ port, http10Port }: SwappedServer): Promise<readonly RawSocket[]> {
  const sockets = await Promise.all([port, http10Port].map((one) => RawSocket.open(one, false)));
  await Promise.all(sockets.map((socket) => socket.write(requestOf('GET', `${LIST}?limit=5000`))));
  // Threads handle requests in order: once these are answered, the slow ones have been handled.
  for (const one of [port, http10Port]) {
    const client = clientOf(`http://127.0.0.1:${one}`);
    await client.get(`${LIST}?limit=1`);
    client.close();
  }
  return sockets;
}

/** A paused socket does not see the end of its connection: it has to read first. */
async function expectCut(sockets: readonly RawSocket[]): Promise<void> {
  for (const socket of sockets) socket.read();
  for (const socket of sockets) expect(await socket.answer()).toBeUndefined();
}

const NOTHING_REPLACED = { generations: 0, readers: 0, bytes: 0 };

async function replaced({ admin }: SwappedServer): Promise<typeof NOTHING_REPLACED> {
  return (JSON.parse((await admin.get('/status')).body) as { replaced: typeof NOTHING_REPLACED }).replaced;
}

function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes[5000]! ^= 1;
  writeFileSync(file, bytes);
}

function brokenDirectory(data: string): void {
  rmSync(data, { force: true });
  mkdirSync(data);
  writeFileSync(`${data}/migrationproperties.ndjson`, '{"id": 1,\n');
}

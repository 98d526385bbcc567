// A target behind a good or bad HTTP server: the requests to it, and the handling of its responses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { openTarget } from '../../../../data/distribution/openTarget.ts';
import type { Target } from '../../../../data/distribution/target.ts';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const { signal } = new AbortController();
let server: Server | undefined;
let target: Target | undefined;
afterEach(async () => {
  await target?.close();
  server?.closeAllConnections();
  server?.close();
});

async function targetOf(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  timeoutMs = 10_000,
): Promise<Target> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/folder`;
  target = await openTarget(url, { timeoutMs });
  return target;
}

const network = (message: RegExp): Error =>
  expect.objectContaining({ code: 'network', message: expect.stringMatching(message) as string }) as Error;
const DATE = 'Sun, 01 Feb 2026 00:00:10 GMT';

test('requests the pointer with its tag once that distinguishes it from the next one', async () => {
  const asked: unknown[] = [];
  const { readPointer } = await targetOf(({ url, headers }, response) => {
    asked.push([url, headers['if-none-match']]);
    const modified = asked.length === 1 ? 'Sun, 01 Feb 2026 00:00:09 GMT' : 'Sun, 01 Feb 2026 00:00:08 GMT';
    if (asked.length > 2) response.writeHead(304).end();
    else response.writeHead(200, { etag: '"a"', date: DATE, 'last-modified': modified }).end('{}');
  });
  expect(await readPointer(undefined, signal)).toEqual({ text: '{}', validator: undefined });
  expect(await readPointer(undefined, signal)).toEqual({ text: '{}', validator: '"a"' });
  expect(await readPointer('"a"', signal)).toBe('unchanged');
  expect(asked[2]).toEqual(['/folder/current.json', '"a"']);
});

test('requests the pointer of a server without tags with its date once that distinguishes it from the next one', async () => {
  const dates = ['Sun, 01 Feb 2026 00:00:09 GMT', 'Sun, 01 Feb 2026 00:00:08 GMT'];
  const asked: unknown[] = [];
  const { readPointer } = await targetOf(({ headers }, response) => {
    const modified = dates[asked.length];
    asked.push(headers['if-modified-since']);
    if (modified === undefined) response.writeHead(304).end();
    else response.writeHead(200, { date: DATE, 'last-modified': modified }).end('{}');
  });
  expect(await readPointer(undefined, signal)).toEqual({ text: '{}', validator: undefined });
  expect(await readPointer(undefined, signal)).toEqual({ text: '{}', validator: dates[1] });
  expect(await readPointer(dates[1], signal)).toBe('unchanged');
  expect(asked).toEqual([undefined, undefined, dates[1]]);
});

test('reads an object from the requested byte, or from the start if a server has no ranges', async () => {
  const { read } = await targetOf(({ url, headers }, response) => {
    if (url === '/folder/whole') response.writeHead(200).end('01234');
    else if (headers.range === undefined) response.writeHead(404).end();
    else response.writeHead(206, { 'content-range': 'bytes 3-4/5' }).end('34');
  });
  const whole = (await read('whole', 3, signal))!;
  expect([whole.offset, await text(whole.pieces)]).toEqual([0, '01234']);
  const part = (await read('part', 3, signal))!;
  expect([part.offset, await text(part.pieces)]).toEqual([3, '34']);
  expect(await read('part', 0, signal)).toBeUndefined();
  await expect(read('part', 2, signal)).rejects.toThrow(network(/answered 206$/));
});

test.each([
  [
    'a redirection',
    (response: ServerResponse) => response.writeHead(302, { location: '/' }).end(),
    /answered 302, and/,
  ],
  ['a failure', (response: ServerResponse) => response.writeHead(500).end('x'.repeat(200_000)), /answered 500$/],
  [
    'a long text',
    (response: ServerResponse) => response.writeHead(200).end('x'.repeat(70_000)),
    /more than 65536 bytes$/,
  ],
  ['half an answer', (response: ServerResponse) => response.writeHead(200).write('{', () => response.destroy()), /: /],
  ['silence', () => undefined, /current\.json: /],
])('reports %s in place of a pointer with the URL', async (_, answer, message) => {
  const { readPointer } = await targetOf((_request, response) => void answer(response), 500);
  await expect(readPointer(undefined, signal)).rejects.toThrow(network(message));
});

test('reports a server without TLS with the remedy', async () => {
  const { name } = await targetOf((_request, response) => void response.end());
  const encrypted = await openTarget(name.replace('http:', 'https:'), { timeoutMs: 10_000 });
  await expect(encrypted.readPointer(undefined, signal)).rejects.toThrow(
    network(/current\.json: answers without TLS: is it http:\/\/\?$/),
  );
  await encrypted.close();
});

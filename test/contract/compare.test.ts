// `compare` between a server and a copy of it; a small proxy in front of the copy plants differences into some
// responses.
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Comparison } from '../../data/compare/compare.ts';
import { commandLine } from '../../server/commands/commands.ts';
import { clientOf, type Client } from '../support/client.ts';
import { runServer } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

interface Planted {
  body: string;
  readonly headers: Record<string, string>;
}

/** The changes that the proxy makes to the response of each path. */
const PLANTED: Readonly<Record<string, (response: Planted) => void>> = {
  '/api/v3/platforms/?limit=1': (response) => {
    response.body = response.body.replace('"title":"', '"title":"not ');
  },
  '/api/v3/platforms/?limit=2': (response) => {
    const page = JSON.parse(response.body) as { results: unknown[] };
    page.results.reverse();
    response.body = JSON.stringify(page);
  },
  '/api/v3/platforms/?limit=3': (response) => {
    response.body = response.body.replace(/"count":\d+/, (text) => text + '0');
  },
  '/api/v3/platforms/?limit=4': (response) => {
    delete response.headers['allow'];
  },
  '/api/v3/platforms/?limit=5': (response) => {
    delete response.headers['vary'];
  },
  '/api/v3/platforms/?limit=6': (response) => {
    response.body = response.body.replace('{', '{ ');
  },
};

const folder = temporaryDirectory();
let original: Awaited<ReturnType<typeof runServer>>;
let client: Client;
let proxy: HttpServer;
let proxyUrl: string;

async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await client.get(request.url!);
  const { connection: _, 'transfer-encoding': __, ...headers } = received.headers as Record<string, string>;
  const planted: Planted = { body: received.body, headers };
  PLANTED[request.url!]?.(planted);
  headers['content-length'] = String(Buffer.byteLength(planted.body));
  response.writeHead(received.status, planted.headers).end(planted.body);
}

beforeAll(async () => {
  original = await runServer(['--threads', '1', '--data', await sampleSnapshot()]);
  client = clientOf(original.url);
  proxy = createServer((request, response) => void pass(request, response));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  client.close();
  proxy.close();
  await original.kill();
});

/** The output of `compare` and the message of its error, if it fails. */
async function compared(...flags: readonly string[]): Promise<readonly [output: string, error: string | undefined]> {
  let output = '';
  const outputs = { stdout: { write: (text: string) => void (output += text) }, stderr: { write: () => undefined } };
  const words = ['compare', original.url, proxyUrl, '--rate', '1000', ...flags];
  try {
    await (await commandLine(outputs, words)).parseAsync(words, { from: 'user' });
    return [output, undefined];
  } catch (error) {
    return [output, (error as Error).message];
  }
}

function logOf(name: string, lines: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

describe('compare', () => {
  test('finds every planted difference in the requests of a log, and nothing else', async () => {
    const log = logOf('access.log', [
      ...Object.keys(PLANTED).map(
        (path) => `10.0.0.1 - - [30/Nov/2026:00:00:00 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "-"`,
      ),
      '10.0.0.1 - - [30/Nov/2026:00:00:00 +0000] "POST /attAuthority.wsdl HTTP/1.1" 200 1 "-" "-"',
      JSON.stringify({ request: 'GET /api/v3/times/?limit=3&strict=1 HTTP/1.1', status: 200 }),
      JSON.stringify({ request: 'GET /api/v3/times/?nothing=1&strict=1 HTTP/1.1', status: 400 }),
    ]);
    const [output, error] = await compared('--log', log, '--format', 'json');
    const { compared: count, different, groups } = JSON.parse(output) as Comparison;
    expect([count, different]).toEqual([8, 6]);
    const found = groups.map(({ cause, examples }) => [cause, examples.map(({ path }) => path)]);
    expect(Object.fromEntries(found)).toEqual({
      records: ['/api/v3/platforms/?limit=1'],
      order: ['/api/v3/platforms/?limit=2'],
      count: ['/api/v3/platforms/?limit=3'],
      allow: ['/api/v3/platforms/?limit=4'],
      vary: ['/api/v3/platforms/?limit=5'],
      spelling: ['/api/v3/platforms/?limit=6'],
    });
    expect(error).toMatch(/^the replica responds differently \(/);
  });

  test('makes requests from the data of the replica, and accepts equal responses', async () => {
    const [output, error] = await compared();
    expect(error).toBeUndefined();
    const [, identical, total] = /^([\d,]+) of ([\d,]+) responses are identical\n$/.exec(output) ?? [];
    expect(identical).toBe(total);
    expect(Number(total!.replace(',', ''))).toBeGreaterThan(400);
  });

  test('prints the setting that removes a cause, and accepts causes', async () => {
    const path = '/api/v3/platforms/?limit=1';
    const log = logOf('one.log', [`- - - [-] "GET ${path} HTTP/1.1" 200 1`]);
    const [output, error] = await compared('--log', log, '--accept', 'records');
    expect(error).toBeUndefined();
    expect(output).toContain('records: try a refresh of the replica');
    expect(output).toContain(path);
    expect(output).toContain('0 of 1 responses are identical');
  });

  test.each([
    [['--log', 'missing.log'], /missing\.log: cannot be read \(ENOENT\)/],
    [['--log', import.meta.filename.replace('compare.test', 'admin.test')], /no line has a GET request to the API/],
    [['--accept', 'everything'], /Allowed choices are status, refused/],
  ])('rejects the arguments %j', async (flags, message) => {
    const [, error] = await compared(...flags);
    expect(error).toMatch(message);
  });
});

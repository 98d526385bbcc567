// The crawl command: its output, its user agent, and its exit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crawlingOf } from '../../../../server/commands/crawl.ts';
import { readSettings } from '../../../../server/settings/declarations.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { recordsFrom, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { type PlainUpstream, startPlainUpstream, sendJson } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
let upstream: PlainUpstream;
let isBreaking = false;
let isHolding = false;
beforeAll(async () => {
  upstream = await startPlainUpstream({
    collections: { notes: [{ ob_id: 1 }], plankton: [] },
    onRequest: async ({ socket }) => {
      if (isBreaking) socket.destroy();
      isBreaking = false;
      if (isHolding) await once(socket, 'close');
    },
  });
});
afterAll(() => upstream.close());

function newOutput(): string {
  return join(mkdtempSync(join(directory, 'crawl-')), 'out');
}

/** Leaves the checkpoint of a run that ended before it had any record next to an output. */
function writeCheckpoint(output: string): void {
  mkdirSync(`${output}.crawl`, { recursive: true });
  const checkpoint = { version: 1, url: upstream.url, begun: '2026-01-31T00:00:00Z', isAccepted: false, parts: {} };
  writeFileSync(`${output}.crawl/checkpoint.json`, JSON.stringify(checkpoint));
}

test('accepts a base URL or a root view, identifies itself, and reports its result', async () => {
  const output = newOutput();
  const words = ['--contact', 'me@example.org', '--rate', '1000'];
  const command = runCommand(['crawl', `${upstream.url}/api/v3/?format=api`, '-o', `${output}/`, ...words]);
  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.out()).toBe(
    'a crawl began, of everything\n' +
      'left out, since no such collection is known: plankton\n' +
      `${output}: 1 records in 1 collections; 0 of 0 links lead to no record\n`,
  );
  expect(recordsOf(output)).toEqual({ 'notes.ndjson': '{"ob_id":1}\n' });
  expect(upstream.requests[0]!.headers['user-agent']).toMatch(
    /^catalogue-replica\/\d+\.\d+\.\d+ \(\+me@example\.org\)$/,
  );
});

test.each(['/api/v3', '/api/v3/notes/?format=api', '/api/v2/notes.json', '/api/v3/notes/1/'])(
  'finds the base URL before %s',
  async (address) => {
    const output = newOutput();
    const command = runCommand(['crawl', upstream.url + address, '-o', output, '--rate', '1000']);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(recordsOf(output)).toEqual({ 'notes.ndjson': '{"ob_id":1}\n' });
  },
);

test('logs each step as a line of JSON with event and figures if asked to, and so does import', async () => {
  isBreaking = true;
  const output = newOutput();
  const environment = { CATALOGUE_LOG_FORMAT: 'json' };
  const eventsOf = async (...words: readonly string[]): Promise<readonly unknown[]> => {
    const command = runCommand(words, { environment });
    expect(await command.ended).toEqual({ code: 0, signal: null });
    return command
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };
  const [seconds, message] = [expect.any(Number), expect.any(String)] as readonly unknown[];
  expect(await eventsOf('crawl', upstream.url, '-o', output, '--rate', '1000')).toMatchObject([
    { level: 'info', event: 'crawlStarted', how: 'new', from: upstream.url },
    {
      level: 'warn',
      event: 'pageRetried',
      message: expect.stringMatching(/^the root view \(.*; try 2 of 6 in 0(\.\d)? s$/) as unknown,
      what: 'the root view',
      url: `${upstream.url}/api/v3/`,
      tried: 1,
      tries: 6,
      waitSeconds: expect.any(Number) as unknown,
      reason: expect.any(String) as unknown,
    },
    { level: 'info', event: 'crawled', records: 1, bytes: 12, links: 0, dangling: 0, seconds, message },
  ]);
  const words = ['--threads', '1', '--profile', '--base-url', 'http://a.example.org'];
  const generation = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
  const bytes = expect.any(Number) as unknown;
  const ignored = 'bboxes.json';
  writeFileSync(join(output, ignored), '[]');
  expect(await eventsOf('import', output, '-o', `${output}.snapshot`, ...words)).toMatchObject([
    { event: 'compressed', generation, bytes, seconds, message },
    { event: 'built', generation, bytes, parsed: 1, ignored, seconds, decodingCpuSeconds: seconds, message },
  ]);
});

test.each([
  ['import', []],
  ['crawl', ['--rate', '1000']],
  ['follow', ['--rate', '1000', '--once']],
])('prints by default for people without a terminal too, and an error once: %s', async (name, flags) => {
  const from = name === 'import' ? join(newOutput(), 'absent') : `${upstream.url}/nowhere`;
  const words = [name, from, '-o', newOutput(), ...flags];
  const command = runCommand(words, { environment: { CATALOGUE_LOG_FORMAT: '' } });
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.out()).not.toContain('{');
  expect(command.out() + command.err()).toMatch(/^(?:a crawl began, of everything\n)?catalogue-replica: .*\n$/);
});

test('logs for people or machines in follow, as it is set', async () => {
  const told = async (format: string): Promise<string> => {
    const words = ['--once', '--rate', '1000', '--log-format', format];
    const command = runCommand(['follow', upstream.url, '-o', newOutput(), ...words]);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    return command.out();
  };
  expect(await told('people')).toMatch(
    /^a crawl began, of everything\nleft out, since .*: plankton\ncrawled 1 records .*\n[^{]*\nrefreshed: .*\n$/,
  );
  expect(await told('json')).toMatch(
    /^\{"time":"[^"]+","level":"info","message":"a crawl began, [^]*"leftOut":"plankton"[^]*"event":"refreshed"/,
  );
});

test.skipIf(!hasProgram('script'))(
  'shows a bar in follow on a terminal, also if its process has a channel',
  async () => {
    const channel = `--import 'data:text/javascript,process.send = () => true'`;
    const words = `follow ${upstream.url} -o ${newOutput()} --once --rate 1000`;
    const command = `${process.execPath} ${channel} server/commands/cli.ts ${words}`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
    let shown = '';
    child.stdout.on('data', (piece: Buffer) => (shown += String(piece)));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(shown).toMatch(/crawling \w+ \[/);
    expect(shown).toContain('refreshed: generation');
  },
);

test('names what it could not fetch, exits with 1, and leaves nothing if it made no progress', async () => {
  const output = newOutput();
  const words = ['crawl', `${upstream.url}/nowhere`, '-o', output, '--rate', '1000', '--log-format', 'json'];
  const command = runCommand(words);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  const url = `${upstream.url}/nowhere/api/v3/`;
  const cure = 'name the base URL, behind which /api/v3/ is put, without the path of a page';
  expect(command.err()).toBe('');
  expect(command.out()).not.toContain('pageRetried');
  const lines = command.out().trim().split('\n');
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    level: 'error',
    event: 'refused',
    reason: `the root view (${url}): answered 404; ${cure}`,
  });
  expect([existsSync(output), existsSync(`${output}.crawl`)]).toEqual([false, false]);
});

test('ends if a page does not exist, whatever wait was asked for other pages', async () => {
  let next: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const base = `http://${request.headers.host}`;
    const { pathname, searchParams } = new URL(request.url!, base);
    if (pathname === '/api/v3/') return sendJson(response, { notes: `${base}/api/v3/notes/` });
    if (searchParams.get('offset') === '0') {
      const link = `${base}/api/v3/notes/?limit=100&offset=100`;
      return sendJson(response, { count: 400, next: link, previous: null, results: recordsFrom(0, 100) });
    }
    if (Number(searchParams.get('offset')) < 150) return void (next = response);
    response.writeHead(429, { 'retry-after': '600' }).end();
    // The next request is queued by then, and is not in a random pause of at most half a second.
    setTimeout(() => next!.writeHead(404).end(), 1000);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const command = runCommand(['crawl', url, '-o', newOutput(), '--rate', '1000']);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.err()).toContain('answered 404');
  expect(command.out()).toContain('answered 429, Retry-After 600 s; try 2 of 6');
  server.closeAllConnections();
  server.close();
});

test('reports once, in one line, that a server has no TLS', async () => {
  const url = upstream.url.replace('http:', 'https:');
  const command = runCommand(['crawl', url, '-o', newOutput(), '--rate', '1000']);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.out()).toBe('a crawl began, of everything\n');
  const why = 'answers without TLS: is it http://?';
  expect(command.err()).toBe(`catalogue-replica: the root view (${url}/api/v3/): ${why}\n`);
});

test('reports after a signal that the next run resumes, and that run reports it at its start', async () => {
  const output = newOutput();
  isHolding = true;
  const words = ['crawl', upstream.url, '-o', output, '--rate', '1000'];
  const first = runCommand(words);
  await first.printed(/a crawl began, of everything/);
  writeCheckpoint(output);
  first.signal('SIGINT');
  expect(await first.ended).toEqual({ code: null, signal: 'SIGINT' });
  expect(first.out()).toContain('SIGINT: ended; the next run goes on\n');
  isHolding = false;
  const second = runCommand(words);
  expect(await second.ended).toEqual({ code: 0, signal: null });
  expect(second.out()).toMatch(/^the crawl of 2026-01-31T00:00:00Z goes on\n/);
});

test('exits like a crawl if follow refreshes once, and with 0 if it keeps following', async () => {
  isHolding = true;
  for (const [words, end] of [
    [['--once'], { code: null, signal: 'SIGTERM' }],
    [[], { code: 0, signal: null }],
  ] as const) {
    const output = newOutput();
    const command = runCommand(['follow', upstream.url, '-o', output, ...words]);
    await command.printed(/a crawl began, of everything/);
    command.signal('SIGTERM');
    expect(await command.ended).toEqual(end);
    expect(command.out().match(/SIGTERM: ended; the next run goes on\n/g)).toHaveLength(1);
    expect(existsSync(join(output, 'lock'))).toBe(false);
  }
  isHolding = false;
});

test('ends its requests in whole milliseconds, however many digits are given', () => {
  const timeoutMs = (timeout: string): number =>
    crawlingOf('https://a.example.org', readSettings({ timeout }, {}), false).timeoutMs;
  expect(['1.2345', '0.0125', '30'].map(timeoutMs)).toEqual([1235, 13, 30_000]);
});

test('keeps its resumable data if the output is damaged, also if refused data is discarded', async () => {
  const output = newOutput();
  mkdirSync(output);
  writeFileSync(join(output, 'MANIFEST.json'), '{');
  writeCheckpoint(output);
  const command = runCommand(['crawl', upstream.url, '-o', output, '--discard-refused']);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.err()).toMatch(/^catalogue-replica: \S+MANIFEST\.json: .*JSON/);
  expect(command.err()).not.toContain('was removed');
  expect(existsSync(`${output}.crawl/checkpoint.json`)).toBe(true);
});

test.each([
  ['a URL', ['ftp://a.example.org', '-o', 'x'], 'ftp://a.example.org: want an http or https URL'],
  [
    'a concurrency',
    ['http://a.example.org', '-o', 'x', '--concurrency', '5'],
    'flag --concurrency: got "5", want an integer from 1 to 4',
  ],
  ['a contact', ['http://a.example.org', '-o', 'x', '--contact', 'a\r\nb'], 'want an address or URL'],
  ['no output', ['http://a.example.org'], '-o, --output'],
])('refuses wrong usage, such as %s, and exits with 2', async (_what, words, why) => {
  const command = runCommand(['crawl', ...words]);
  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.err()).toContain(why);
});

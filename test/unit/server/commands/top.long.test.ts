// Live traffic of a real server by its metrics: one table, a table refreshed in place on a terminal, and what is said
// of addresses that are none of ours. And the reader of metrics by itself.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { runTop } from '../../../../server/commands/top.ts';
import { scrapedSamples } from '../../../../server/observe/scrape.ts';
import { clientOf } from '../../../support/client.ts';
import { runCommand, runServer } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

const CLI = fileURLToPath(new URL('../../../../server/commands/cli.ts', import.meta.url));
const directory = temporaryDirectory();
let server: Awaited<ReturnType<typeof runServer>>;
let admin = '';

beforeAll(async () => {
  server = await runServer(['--data', await sampleSnapshot(), '--threads', '1', '--admin-port', '0']);
  const [, origin] = await server.printed(/admin on (http:\S+)\/status/);
  admin = origin!;
  const client = clientOf(server.url);
  for (let i = 0; i < 3; i++) await client.get('/api/v3/observations/?limit=1');
  await client.get('/api/v0/obs/get_info/x');
  await client.get('/browse/');
  client.close();
}, 60_000);
afterAll(() => server.kill());

async function run(words: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const command = runCommand(['top', ...words]);
  const { code } = await command.ended;
  return { code, out: command.out(), err: command.err() };
}

test('one table has every route that was asked for, with its times', async () => {
  const { code, out } = await run([admin, '--once']);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^127\.0\.0\.1:\d+: ready, generation [0-9a-f]{12}, (?:1 connection|\d+ connections), [\d.]+ MB resident\n/,
  );
  expect(out).toMatch(/\nroute +requests +bytes +p50 +p99 +5xx\n/);
  expect(out).toMatch(/\nlist {10,}3 .*\d ms +\d+(\.\d+)? ms +0\n/);
  expect(out).toMatch(/\nresolution +1 /);
  expect(out).toMatch(/\nbrowse +1 /);
  expect(out).not.toMatch(/\nrecord /);
});

test('a server that nobody has asked anything has no table', async () => {
  const quiet = await runServer(['--data', await sampleSnapshot(), '--threads', '1', '--admin-port', '0']);
  const [, origin] = await quiet.printed(/admin on (http:\S+)\/status/);
  expect((await run([origin!])).out).toMatch(/ 0 connections, [^\n]*\nsince its start:\nno requests\n$/);
  await quiet.kill();
});

test('a server that has no data yet is known for one', async () => {
  const words = ['--from', `file://${directory}/nothing`, '--cache', join(directory, 'cache')];
  const waiting = runCommand(['serve', ...words, '--port', '0', '--admin-port', '0', '--threads', '1']);
  const [, origin] = await waiting.printed(/admin on (http:\S+)\/status/);
  expect((await run([origin!])).out).toMatch(/: not ready, generation none, [^\n]*\nsince its start:\nno requests\n$/);
  await waiting.kill();
});

test('where the output is no terminal there is one table too', async () => {
  expect((await run([`${admin}/status`])).out).toMatch(/\nlist +3 /);
});

test.each([
  ['SERVER', 1, /has no metrics of a catalogue replica: name the admin port of a running/],
  ['http://127.0.0.1:1', 1, /cannot be asked \(ECONNREFUSED\): name the admin port of a running server/],
  ['nothing', 2, /got "nothing"; want the http URL of an admin port/],
  ['ftp://127.0.0.1/', 2, /want the http URL/],
  ['--wrong', 2, /unknown option '--wrong'/],
] as const)('an address that is none of ours is refused in one line: %s', async (url, code, message) => {
  const ended = await run([url.replace('SERVER', server.url)]);
  expect(ended.code).toBe(code);
  expect(ended.err).toMatch(message);
  expect(ended.out).toBe('');
});

test.skipIf(!hasProgram('script'))(
  'a terminal has the table in place, again and again, until Ctrl-C',
  async () => {
    const words = ['-qefc', `'${process.execPath}' '${CLI}' top ${admin}`, '/dev/null'];
    const child = spawn('script', words, { stdio: ['pipe', 'pipe', 'ignore'] });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    let text = '';
    let isPressed = false;
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString();
      if (isPressed || text.split('\u001b[H\u001b[J').length < 3) return;
      isPressed = true;
      child.stdin.write('\x03');
    });
    await ended;
    expect(text).toContain('since its start:');
    expect(text).toMatch(/in the last \d\.\d s:/);
  },
  60_000,
);

test('a server that is started again is asked until it answers, and counts from its start', async () => {
  const metrics = (requests: number): string =>
    `catalogue_replica_requests_total{route="list",status="200"} ${requests}\ncatalogue_replica_ready 1\n`;
  const answers = [metrics(100), undefined, '', metrics(160), metrics(7), metrics(17)];
  const fake = createServer((_, response) => {
    const answer = answers.shift();
    if (answer === undefined) response.destroy();
    else response.end(answer);
  });
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const screens: string[] = [];
  const stdout = { isTTY: true, write: (text: string) => void screens.push(text) };
  const pause = async (): Promise<void> => {
    if (answers.length === 0) throw new Error('the end of the test');
  };
  await expect(runTop(url, false, { stdout, stderr: stdout }, pause)).rejects.toThrow('the end of the test');
  fake.close();
  expect(screens.map((screen) => /no answer, trying again|since its start|in the last/.exec(screen)?.[0])).toEqual([
    'since its start',
    'no answer, trying again',
    'no answer, trying again',
    'in the last',
    'since its start',
    'in the last',
  ]);
  expect(screens[4]).toMatch(/\nlist +7 /);
  expect(screens.join('')).not.toMatch(/-\d/);
});

describe('metrics as text', () => {
  test('are names, labels with their escapes, and values', () => {
    const text =
      '# HELP a b\n# TYPE a counter\na 1\na{x="1",y="q\\"\\\\\\n,{}"} 2.5e3 1700000000\nb_bucket{le="+Inf"} +Inf\nc NaN\n\n';
    const samples = scrapedSamples(text)!;
    expect(samples.get('a')).toEqual([
      { labels: {}, value: 1 },
      { labels: { x: '1', y: 'q"\\\n,{}' }, value: 2500 },
    ]);
    expect(samples.get('b_bucket')).toEqual([{ labels: { le: '+Inf' }, value: Infinity }]);
    expect(samples.get('c')?.[0]?.value).toBeNaN();
  });

  test.each(['<html>', 'a', 'a x', 'a{x=1} 2', 'a{x="1" 2', 'a{x="1"}2', '{"a":1}'])('%s is none', (text) => {
    expect(scrapedSamples(text)).toBeUndefined();
  });
});

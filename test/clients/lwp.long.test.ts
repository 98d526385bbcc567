// Perl's LWP, whose every request has `Connection: TE, close`.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasLibrary } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const run = promisify(execFile);
const SCRIPT = `
use LWP::UserAgent;
my $agent = LWP::UserAgent->new;
my $page = $agent->get($ARGV[0]);
print join(' ', $page->code, length($page->content) == $page->header('Content-Length') ? 'whole' : 'cut',
  $agent->head($ARGV[0])->code,
  $agent->get($ARGV[0], 'If-None-Match' => $page->header('ETag'))->code,
  $agent->get("$ARGV[0]?format=csv", Range => 'bytes=0-9')->code,
  $page->header('Client-Response-Num'), $page->header('Connection'));
`;

describe.skipIf(!hasLibrary('libwww-perl'))('LWP', () => {
  let server: Server;
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(() => server.stop());

  test('gets a page, a HEAD, a 304 and a range', async () => {
    const { stdout } = await run('/usr/bin/perl', ['-e', SCRIPT, `${server.url}/api/v3/observations/`]);
    expect(stdout).toBe('200 whole 200 304 206 1 close');
  });
});

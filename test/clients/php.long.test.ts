// PHP's stream wrapper: a page, a filter and a range.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const run = promisify(execFile);
const SCRIPT = `
$page = json_decode(file_get_contents($argv[1]));
$since = json_decode(file_get_contents($argv[1] . '?limit=1&dataPublishedTime__lte=' . urlencode(date(DATE_RFC3339_EXTENDED))));
$part = file_get_contents($argv[1] . '?format=csv', false, stream_context_create(['http' => ['header' => 'Range: bytes=0-9']]));
echo $page->count, ' ', count($since->results), ' ', strlen($part);
`;

describe.skipIf(!hasProgram('php'))('PHP', () => {
  let server: Server;
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(() => server.stop());

  test('file_get_contents gets a page, a filter by a date of PHP, and a range', async () => {
    const { stdout } = await run('php', ['-r', SCRIPT, '--', `${server.url}/api/v3/observations/`]);
    expect(stdout).toBe('500 1 10');
  });
});

// The serve command as a process: its output and its responses. serveRefusals.long.test.ts has its refusals to start,
// and serveEnds.long.test.ts its exit.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nicer } from '../../../../workers/niceness.ts';
import { clientOf } from '../../../support/client.ts';
import { runServer, endedCommands } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { parse } from '../../../support/parsedWords.ts';
import { startStalenessFlag, scarceDescriptors } from '../../../../server/process/serve.ts';

const RECORDS = 100;
const directory = temporaryDirectory();
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(
    dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) }),
  ));
});

const { startServer } = endedCommands();

async function linkOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const client = clientOf(url);
  const { body } = await client.get('/api/v3/migrationproperties/?limit=1', headers);
  client.close();
  return (JSON.parse(body) as { next: string }).next;
}

test('does not exit or open an inspector on SIGHUP and SIGUSR1, and keeps unchanged data', async () => {
  const server = await startServer('--data', snapshot);
  const before = await linkOf(server.url);
  server.signal('SIGHUP');
  server.signal('SIGUSR1');
  await server.printed(/^the data has not changed: generation [0-9a-f]{12} goes on$/m);
  expect(await linkOf(server.url)).toBe(before);
  server.signal('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.err()).not.toMatch(/debugger|inspector/i);
});

describe('a server on port 0', () => {
  let server: Awaited<ReturnType<typeof runServer>>;
  beforeAll(async () => {
    const flags = ['--threads', '1', '--gzip', 'live', '--explain', '--row-set-cache-mb', '3'];
    server = await runServer(['--data', snapshot, ...flags]);
  });
  afterAll(() => server.kill());

  test('chooses a free port, prints it, and starts links with it', async () => {
    expect(server.out()).toContain(`links start with http://localhost:${server.port}\n`);
    expect(server.out()).toMatch(/^loaded 100 records \(.* MB\) of .* in \d+\.\d s, generation [0-9a-f]{12}\n/);
    expect(await linkOf(server.url)).toBe(
      `http://localhost:${server.port}/api/v3/migrationproperties/?limit=1&offset=1`,
    );
    // A load that takes more than a second reports its progress.
    expect(server.err().replace(/^loading the snapshot: .*\n/gm, '')).toBe('');
  });

  test.skipIf(!hasProgram('curl'))('prints a curl line that gets a page when it is pasted', async () => {
    const line = /^try: (.*)$/m.exec(server.out())![1]!;
    const { status, stdout } = spawnSync('sh', ['-c', `${line} --silent --fail`], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ results: expect.any(Array) });
  });

  test('is asked by the command explain for the plan of a URL', async () => {
    const { out } = await parse('explain', `${server.url}/api/v3/observations/?limit=1`);
    expect(JSON.parse(out)).toMatchObject({ plan: { collection: 'observations', limit: 1 } });
    const { thrown } = await parse('explain', `${server.url}/api/v3/nothing/`);
    expect(String(thrown)).toContain('/api/v3/nothing/: status 404');
  });

  test.runIf(process.platform === 'linux')(
    'leaves the cores to cheap requests: only pool threads have a lower priority',
    async () => {
      // A field of a thread's line in /proc (proc(5), stat, nice), counted after the name, which may contain blanks.
      const niceOf = (thread: string): string =>
        readFileSync(`/proc/${server.pid}/task/${thread}/stat`, 'latin1')
          .replace(/^.*\) /s, '')
          .split(' ')[16]!;
      const niceness = (): ReadonlySet<string> => new Set(readdirSync(`/proc/${server.pid}/task`).map(niceOf));
      const inherited = getPriority();
      expect(niceness()).toEqual(new Set([String(inherited)]));
      const client = clientOf(server.url);
      await client.get('/api/v3/migrationproperties/?value__contains=needle8');
      client.close();
      expect(niceness()).toEqual(new Set([inherited, nicer(inherited)].map(String)));
    },
  );

  test('explains where a heavy list ran: first in the pool, then from the cache of the thread', async () => {
    const client = clientOf(server.url);
    const explained = async (): Promise<object> => {
      const query = 'value__contains=needle7&explain=1';
      return JSON.parse((await client.get(`/api/v3/migrationproperties/?${query}`)).body) as object;
    };
    const first = await explained();
    expect(first).toMatchObject({
      count: 11,
      ran: { place: 'pool', isKept: false },
      thread: { pooled: 2, sets: 2, bytesMax: 3_000_000 },
    });
    expect(first).toHaveProperty(
      'ran.bytesScanned',
      expect.toSatisfy((bytes: number) => bytes > 0),
    );
    const second = await explained();
    expect(second).toMatchObject({ count: 11, ran: { place: 'cache', isKept: true, bytesScanned: 0 } });
    client.close();
  });
});

describe('serve', () => {
  test('gives every thread the same data: three threads give many connections the same responses', async () => {
    const server = await startServer('--data', snapshot, '--threads', '3');
    const links = await Promise.all(Array.from({ length: 30 }, () => linkOf(server.url)));
    expect(new Set(links).size).toBe(1);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
  test.skipIf(!hasIpv6)('listens on an IPv6 address and prints its URL with brackets', async () => {
    const server = await startServer('--data', snapshot, '--host', '::1');
    expect(server.url).toBe(`http://[::1]:${server.port}`);
    for (const port of [server.port, server.http10Port]) {
      const answer = await fetch(`http://[::1]:${port}/api/v3/migrationproperties/1/`);
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
  });
});

test('states the truth in its messages from the start', async () => {
  const word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let isStale = true;
  const stop = startStalenessFlag(word, () => isStale);
  expect(word[0]).toBe(1);
  isStale = false;
  await expect.poll(() => word[0], { timeout: 20_000 }).toBe(0);
  stop();
});

test('refuses a limit without any connection, and warns of one with few only', () => {
  expect(() => scarceDescriptors(2, 88)).toThrow(
    /^the process may open 88 descriptors, and 2 serving threads need 89: /,
  );
  expect(scarceDescriptors(2, 89)).toMatch(/^connections that can be open at once: 1, /);
  expect(scarceDescriptors(2, 1024)).toBeUndefined();
  expect(scarceDescriptors(2, undefined)).toBeUndefined();
});

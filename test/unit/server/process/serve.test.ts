// The serve command as a process: what it refuses to start on, what it prints and how it shares a port; how it ends is
// in serveEnds.test.ts.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimPort } from '../../../../server/http/claim.ts';
import { clientOf } from '../../../support/client.ts';
import { openFilesOf, runServer } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { endedCommands } from '../../../support/endedCommands.ts';
import { longProperties } from '../../../support/longProperties.ts';

const RECORDS = 100;
const directory = temporaryDirectory();
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(
    dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) }),
  ));
});

const { startServe, startServer } = endedCommands();

async function linkOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const client = clientOf(url);
  const { body } = await client.get('/api/v3/migrationproperties/?limit=1', headers);
  client.close();
  return (JSON.parse(body) as { next: string }).next;
}

test('SIGHUP and SIGUSR1 end no server, open no inspector, and leave data that has not changed as it was', async () => {
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

describe('serve refuses, in lines without a stack and with exit code 1,', () => {
  async function refused(words: readonly string[], message: RegExp): Promise<void> {
    const command = startServe(words);
    expect(await command.ended).toEqual({ code: 1, signal: null });
    expect(command.err()).toMatch(message);
    expect(command.err()).not.toMatch(/^ +at /m);
    expect(command.out()).not.toContain('listening');
  }

  test('a port that another program has', async () => {
    const other = await new Promise<Server>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
    });
    const { port } = other.address() as AddressInfo;
    const isTold = process.platform === 'linux';
    const holder = isTold ? ` by .+ \\(process ${process.pid}\\): stop that` : ': stop the program that has it';
    await refused(
      ['--data', snapshot, '--port', `${port}`],
      new RegExp(
        `^catalogue-replica: port ${port} on 127.0.0.1 is in use${holder}, or choose another with --port .*\n$`,
      ),
    );
    other.close();
  });

  test('a port that a second server of its own has, on any listener, with the flag of that listener', async () => {
    const { port, http10Port } = await startServer('--data', snapshot);
    await refused(
      ['--data', snapshot, '--port', `${port}`],
      /^catalogue-replica: port \d+ on 127\.0\.0\.1 is in use.*\n$/,
    );
    await refused(
      ['--data', snapshot, '--port', '0', '--http10-port', `${http10Port}`],
      /^catalogue-replica: port \d+ on .* is in use.* choose another with --http10-port .*\n$/,
    );
    await refused(
      ['--data', snapshot, '--port', '0', '--admin-port', `${port}`],
      /^catalogue-replica: port \d+ on .* is in use.* choose another with --admin-port .*\n$/,
    );
  });

  test('a port that a second server of its own has claimed, however long that loads', async () => {
    const { port, release } = await claimPort('127.0.0.1', 0);
    await refused(['--data', snapshot, '--port', `${port}`], /^catalogue-replica: port \d+ .* is in use.*\n$/);
    await release();
  });

  test('an address that is not one of this machine', async () => {
    await refused(
      ['--data', snapshot, '--port', '0', '--host', '192.0.2.1'],
      /^catalogue-replica: port 0 on 192\.0\.2\.1 cannot be taken: .*--host\n$/,
    );
  });

  test('data that is not there', async () => {
    await refused(
      ['--data', join(directory, 'absent'), '--port', '0'],
      /^catalogue-replica: there is no data at .*absent: .*\n$/,
    );
  });

  test('data that nobody can look for', async () => {
    const data = join(directory, 'loop');
    symlinkSync(data, data);
    await refused(['--data', data, '--port', '0'], /^catalogue-replica: cannot read .*loop: ELOOP: .*\n$/);
  });

  test('a directory of records where it cannot write a temporary file', async () => {
    const data = dataSetOf(directory, { 'migrationproperties.ndjson': '' });
    const command = startServe(['--data', data, '--port', '0'], { environment: { TMPDIR: join(directory, 'absent') } });
    expect(await command.ended).toEqual({ code: 1, signal: null });
    expect(command.err()).toMatch(/^catalogue-replica: cannot write .*absent.*: set TMPDIR .*\n$/);
  });

  test('a snapshot with one wrong byte, or cut short', async () => {
    const bytes = readFileSync(snapshot);
    const wrong = join(directory, 'wrong.snapshot');
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(wrong, bytes);
    await refused(
      ['--data', wrong, '--port', '0'],
      /^catalogue-replica: .*wrong\.snapshot: section .*: checksum .*, expected .*\n$/,
    );
    writeFileSync(wrong, bytes.subarray(0, bytes.length >> 1));
    await refused(['--data', wrong, '--port', '0'], /^catalogue-replica: .*wrong\.snapshot: .*\n$/);
  });

  test('faulty records, with file, line and JSON pointer', async () => {
    const faulty = dataSetOf(directory, {
      'ipps.ndjson': '{"ob_id":1}\n{"ob_id":"x"}\n',
      'times.ndjson': '{"ob_id":1',
    });
    await refused(['--data', faulty, '--port', '0'], /^catalogue-replica: .*ipps\.ndjson:2: \/ob_id: .*\n/);
    const lenient = await startServer('--data', faulty, '--lenient');
    expect(lenient.out()).toMatch(/^left out: .*ipps\.ndjson:2: .*\n(?:.*\n)*left out: 2 in all\nloaded 1 records /);
    // Nobody can ask for it again.
    expect(openFilesOf(lenient.pid, 'imported.snapshot')).toEqual([]);
  });

  test('whatever it is, as an event too where lines are for machines', async () => {
    const command = startServe(['--data', join(directory, 'absent'), '--port', '0', '--log-format', 'json']);
    expect(await command.ended).toEqual({ code: 1, signal: null });
    const last = JSON.parse(command.out().trimEnd().split('\n').at(-1)!) as unknown;
    const reason = expect.stringMatching(/^there is no data at /) as unknown;
    expect(last).toMatchObject({ level: 'error', event: 'refused', reason });
    expect(command.err()).toMatch(/^catalogue-replica: there is no data at /);
  });
});

describe('a server on port 0', () => {
  let server: Awaited<ReturnType<typeof runServer>>;
  beforeAll(async () => {
    const flags = ['--threads', '1', '--gzip', 'live', '--explain', '--row-set-cache-mb', '3'];
    server = await runServer(['--data', snapshot, ...flags]);
  });
  afterAll(() => server.kill());

  test('takes a free port, prints it, and starts links with it', async () => {
    expect(server.out()).toContain(`links start with http://localhost:${server.port}\n`);
    expect(server.out()).toMatch(/^loaded 100 records \(.* MB\) of .* in \d+\.\d s, generation [0-9a-f]{12}\n/);
    expect(await linkOf(server.url)).toBe(
      `http://localhost:${server.port}/api/v3/migrationproperties/?limit=1&offset=1`,
    );
    expect(server.err()).toBe('');
  });

  test.skipIf(!hasProgram('curl'))('prints a curl line that answers with a page when it is pasted', async () => {
    const line = /^try: (.*)$/m.exec(server.out())![1]!;
    const { status, stdout } = spawnSync('sh', ['-c', `${line} --silent --fail`], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ results: expect.any(Array) });
  });

  test.runIf(process.platform === 'linux')(
    'leaves the cores to cheap requests: only threads of the pool are nice',
    async () => {
      // The field of a thread's line in /proc behind its name, which may hold blanks: proc(5), stat, nice.
      const niceOf = (thread: string): string =>
        readFileSync(`/proc/${server.pid}/task/${thread}/stat`, 'latin1')
          .replace(/^.*\) /s, '')
          .split(' ')[16]!;
      const niceness = (): ReadonlySet<string> => new Set(readdirSync(`/proc/${server.pid}/task`).map(niceOf));
      expect(niceness()).toEqual(new Set(['0']));
      const client = clientOf(server.url);
      await client.get('/api/v3/migrationproperties/?value__contains=needle8');
      client.close();
      expect(niceness()).toEqual(new Set(['0', '10']));
    },
  );

  test('explains where a heavy list ran: first in the pool, then from what the thread keeps', async () => {
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
  test('starts links with the base URL it is given, or with the listed one that Host names', async () => {
    const server = await startServer(
      '--data',
      snapshot,
      '--base-url',
      'https://a.example.org/x',
      '--allow-base-url',
      'http://b.example.org',
    );
    expect(await linkOf(server.url)).toMatch(/^https:\/\/a\.example\.org\/x\/api\/v3\//);
    expect(await linkOf(server.url, { host: 'b.example.org' })).toMatch(/^http:\/\/b\.example\.org\/api\/v3\//);
    expect(await linkOf(server.url, { host: 'c.example.org' })).toMatch(/^https:\/\/a\.example\.org\/x\/api\/v3\//);
  });

  test('gives every thread the same data: three threads answer many connections alike', async () => {
    const server = await startServer('--data', snapshot, '--threads', '3');
    const links = await Promise.all(Array.from({ length: 30 }, () => linkOf(server.url)));
    expect(new Set(links).size).toBe(1);
  });

  test('ends a pinned walk with 410 when its next page is asked of a server with other data', async () => {
    const other = dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(3) });
    const before = await startServer('--data', snapshot, '--pin-walks');
    const after = await startServer('--data', other, '--pin-walks');
    const generationOf = (server: typeof before): string => /generation ([0-9a-f]{12})\n/.exec(server.out())![1]!;
    const next = (await linkOf(before.url)).replace(/^http:\/\/[^/]*/, '');
    expect(next).toContain(`?generation=${generationOf(before)}&limit=1&offset=1`);
    const clients = [before, after].map(({ url }) => clientOf(url));
    const [same, gone] = await Promise.all(clients.map((client) => client.get(next)));
    for (const client of clients) client.close();
    expect(same!.status).toBe(200);
    expect([gone!.status, JSON.parse(gone!.body)]).toEqual([
      410,
      { detail: expect.stringContaining('generation'), generation: generationOf(after) },
    ]);
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

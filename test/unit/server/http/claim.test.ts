// Clients of a claimed port, and the search for the process that uses a port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { claimPort, findHolders } from '../../../../server/http/ports.ts';
import type { Listener } from '../../../../server/http/listener.ts';
import { listenUws } from '../../../../server/http/uws/transport.ts';
import { newSlices, textAnswer } from '../../../support/transports.ts';

const HOST = '127.0.0.1';
/** Listens on a port that others may share, until its standard input ends. */
const SHARER = `
  const say = (socket) => process.stdout.write(socket ? 'listens' : 'refused');
  import('uWebSockets.js').then(({ App }) => App().listen('${HOST}', Number(process.argv[1]), say));
  process.stdin.on('end', () => process.exit(0)).resume();
`;

const ends: (() => unknown)[] = [];
afterEach(async () => void (await Promise.all(ends.splice(0).map((end) => end()))));

async function sharedListener(): Promise<Listener> {
  const { port, release } = await claimPort(HOST, 0);
  await release();
  const handler = () => textAnswer('');
  const listener = await listenUws({
    host: HOST,
    port,
    handler,
    onError: () => undefined,
    slices: newSlices(),
    exclusive: false,
  });
  ends.push(() => listener.drain({ graceMs: 0, withinMs: 0 }));
  return listener;
}

describe('a client that connects while the data loads', () => {
  test.each([
    ['GET', /^HTTP\/1\.1 503 .*\r\n\r\n\{"detail":"The data is being loaded.*\}$/s],
    ['HEAD', /^HTTP\/1\.1 503 .*\r\nContent-Length: \d+\r\n\r\n$/s],
  ])('gets by %s a response about that', async (method, expected) => {
    const { port, release } = await claimPort(HOST, 0);
    ends.push(release);
    const socket = connect(port, HOST).end(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await text(socket)).toMatch(expected);
  });
});

async function startSharer(port: number): Promise<number> {
  const child = spawn(process.execPath, ['-e', SHARER, `${port}`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  ends.push(async () => {
    child.stdin.end();
    await ended;
  });
  const [said] = await once(child.stdout, 'data');
  expect(String(said)).toBe('listens');
  return child.pid!;
}

describe.skipIf(process.platform !== 'linux')('the owner of a port', () => {
  test('is no process if none listens', async () => {
    const { port, release } = await claimPort(HOST, 0);
    await release();
    expect(findHolders(port)).toEqual([]);
  });

  test('is this process and others that share the port, whose names and numbers the refusal has', async () => {
    const { port } = await sharedListener();
    expect(findHolders(port).map(({ pid }) => pid)).toEqual([process.pid]);
    const pid = await startSharer(port);
    expect(new Set(findHolders(port).map((holder) => holder.pid))).toEqual(new Set([process.pid, pid]));
    await expect(claimPort(HOST, port)).rejects.toThrow(
      new RegExp(`^port ${port} on .* is in use by \\S+ \\(process ${pid}\\): stop that`),
    );
  });
});

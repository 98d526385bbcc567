// Who listens on a port: this process, and another that came to share it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { claimPort, assertOwn, inTurnAt } from '../../../../server/http/claim.ts';
import { holdersOf, isShared } from '../../../../server/http/claim.ts';
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
  return listenShared(port);
}

async function listenShared(port: number): Promise<Listener> {
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

describe('who asks while the data loads', () => {
  test.each([
    ['GET', /^HTTP\/1\.1 503 .*\r\n\r\n\{"detail":"The data is being loaded.*\}$/s],
    ['HEAD', /^HTTP\/1\.1 503 .*\r\nContent-Length: \d+\r\n\r\n$/s],
  ])('by %s is told so', async (method, expected) => {
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

describe.skipIf(process.platform !== 'linux')('who listens on a port', () => {
  test('is nobody where nobody does', async () => {
    const { port, release } = await claimPort(HOST, 0);
    await release();
    expect([holdersOf(port), isShared(port)]).toEqual([[], false]);
  });

  test('is this process, whose own listeners share a port with nobody', async () => {
    const { port } = await sharedListener();
    expect(holdersOf(port).map(({ pid }) => pid)).toEqual([process.pid]);
    expect(isShared(port)).toBe(false);
    expect(() => assertOwn(HOST, port)).not.toThrow();
  });

  test('is another process too, which is refused by its name and number', async () => {
    const { port } = await sharedListener();
    const pid = await startSharer(port);
    expect(new Set(holdersOf(port).map((holder) => holder.pid))).toEqual(new Set([process.pid, pid]));
    expect(isShared(port)).toBe(true);
    expect(() => assertOwn(HOST, port)).toThrow(
      new RegExp(`^port ${port} on .* is in use by \\S+ \\(process ${pid}\\)`),
    );
  });
});

describe.skipIf(process.platform !== 'linux')('a turn at a port', () => {
  test('keeps claims waiting between release and listening, so that nobody can come to share the port', async () => {
    const { port, release } = await claimPort(HOST, 0);
    let other: Promise<unknown> | undefined;
    let isSettled = false;
    await inTurnAt(HOST, [port], async () => {
      await release();
      other = claimPort(HOST, port).finally(() => (isSettled = true));
      other.catch(() => undefined);
      // Nobody has the port, and a claim that did not wait would have it within one of these.
      for (let i = 0; i < 5; i++) await (await claimPort(HOST, 0)).release();
      expect(isSettled).toBe(false);
      await listenShared(port);
    });
    await expect(other).rejects.toThrow(`port ${port} on ${HOST} is in use`);
    expect(isShared(port)).toBe(false);
  });

  test('is had at several ports at once, whichever is named first', async () => {
    const [one, other] = [await claimPort(HOST, 0), await claimPort(HOST, 0)];
    ends.push(one.release, other.release);
    const ports = [one.port, other.port];
    let inside = 0;
    let most = 0;
    const change = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await other.release();
      inside--;
    };
    const turns = [ports, ports.toReversed(), [other.port], [one.port, other.port]];
    await Promise.all(turns.map((of) => inTurnAt(HOST, of, change)));
    expect(most).toBe(1);
  });

  test('is one after the other, and ends where what was done in it throws', async () => {
    const order: number[] = [];
    const { port, release } = await claimPort(HOST, 0);
    ends.push(release);
    const first = inTurnAt(HOST, [port], () => {
      order.push(1);
      return Promise.reject(new Error('of the first'));
    });
    const second = inTurnAt(HOST, [port], () => Promise.resolve(order.push(2)));
    await expect(first).rejects.toThrow('of the first');
    await second;
    expect(order).toEqual([1, 2]);
  });

  test('ends with its process, however that ends', async () => {
    const { port, release } = await claimPort(HOST, 0);
    await release();
    const module = new URL('../../../../server/http/claim.ts', import.meta.url).href;
    const holder = `
      const { inTurnAt } = await import('${module}');
      await inTurnAt('${HOST}', [${port}], () => new Promise(() => process.stdout.write('holds')));
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', holder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    ends.push(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    let isClaimed = false;
    const claim = claimPort(HOST, port).finally(() => (isClaimed = true));
    for (let i = 0; i < 5; i++) await (await claimPort(HOST, 0)).release();
    expect(isClaimed).toBe(false);
    child.kill('SIGKILL');
    await ended;
    await (await claim).release();
  });
});

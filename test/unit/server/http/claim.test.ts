// Who listens on a port: this process, and another that came to share it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { claimPort, assertOwn } from '../../../../server/http/claim.ts';
import { holdersOf, isShared } from '../../../../server/http/claim.ts';
import type { Listener } from '../../../../server/http/listener.ts';
import { listenUws } from '../../../../server/http/uws/transport.ts';
import { textAnswer } from '../../../support/transports.ts';

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
  const listener = await listenUws({ host: HOST, port, handler, onError: () => undefined, exclusive: false });
  ends.push(() => listener.drain({ graceMs: 0, withinMs: 0 }));
  return listener;
}

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

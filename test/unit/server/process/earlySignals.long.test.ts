// Signals before a server reports that it listens: reload signals do not end it, and a server that already listens
// drains.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { familyOf } from '../../../../bench/processes/ending.ts';
import { LAUNCHER_FILE } from '../../../../bench/processes/processes.ts';
import { findHolders } from '../../../../server/http/ports.ts';
import { type CommandProcess, runProgram } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

let server: CommandProcess;
afterEach(() => server.kill());

/** A server whose threads read a module first. */
async function startWith(hook: string): Promise<void> {
  const early = `data:text/javascript,${encodeURIComponent(hook)}`;
  const words = ['serve', '--data', await sampleSnapshot(), '--port', '0', '--http10-port', '0', '--threads', '1'];
  server = runProgram(process.execPath, ['--import', early, LAUNCHER_FILE, ...words, '--gzip', 'live']);
}

test.each(['SIGHUP', 'SIGUSR2'])('does not exit on %s, not even if its modules are not read yet', async (signal) => {
  // The signal arrives when the launcher imports the command line: the earliest moment at which our code can receive
  // it.
  await startWith(`import { registerHooks } from 'node:module';
    const resolve = (name, context, next) => {
      if (name.endsWith('/commands/cli.ts')) process.kill(process.pid, '${signal}');
      return next(name, context);
    };
    registerHooks({ resolve });`);
  await server.printed(/listening on/);
  server.signal('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
});

test('checks its data again after loading if SIGHUP arrives meanwhile', async () => {
  await startWith(`import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) process.kill(process.pid, 'SIGHUP');`);
  await server.printed(/^the data has not changed: generation [0-9a-f]{12} goes on$/m);
  expect(server.out()).toMatch(/^SIGHUP: the data is looked at again once it is served$/m);
});

test('drains on SIGTERM if a thread has begun to listen, before it is reported', async () => {
  await startWith(`import { Server } from 'node:net';
    import { isMainThread } from 'node:worker_threads';
    const { listen } = Server.prototype;
    if (!isMainThread) Server.prototype.listen = function (...words) {
      return listen.call(this.once('listening', () => process.kill(process.pid, 'SIGTERM')), ...words);
    };`);
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.out()).toMatch(/^listening on (?:.*\n)+draining \.\.\. after SIGTERM /m);
});

describe.skipIf(process.platform !== 'linux')('SIGUSR1', () => {
  /** Makes the launcher treat the Node that runs it as too old, so that it starts the Node of the install. */
  const OLD_NODE =
    'data:text/javascript,if(process.argv[1].endsWith("launch.js"))Object.defineProperty(process.versions,"node",{value:"20.1.0"})';
  const directory = temporaryDirectory();

  function launch(...words: readonly string[]): CommandProcess {
    server = runProgram(process.execPath, ['--import', OLD_NODE, LAUNCHER_FILE, ...words]);
    return server;
  }

  async function waited<T>(what: string, find: () => T | undefined): Promise<T> {
    for (const endMs = performance.now() + 60_000; ; await delay(1)) {
      const value = find();
      if (value !== undefined) return value;
      if (performance.now() > endMs) throw new Error(`60 s without ${what}:\n${server.out()}${server.err()}`);
    }
  }

  /** The first process below the launcher whose arguments contain all of `words`. */
  function child(...words: readonly string[]): Promise<number> {
    const isIt = (pid: number): boolean => words.every((word) => textOf(`/proc/${pid}/cmdline`).includes(word));
    return waited(`a process with ${words.join()}`, () => familyOf(server.pid).slice(1).find(isIt));
  }

  function textOf(file: string): string {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  }

  /** Node blocks the signal as one of its first steps; before that, the kernel ends the process. */
  function blocksOrCatches(pid: number): true | undefined {
    const masks = [...textOf(`/proc/${pid}/status`).matchAll(/Sig(?:Blk|Cgt):\t(\w+)/g)];
    return masks.some(([, mask]) => (BigInt(`0x${mask}`) >> 9n) & 1n) || undefined;
  }

  /** Sends the signal again and again, from the first moment of Node on, while `work` lasts. */
  async function signalDuring(pid: number, work: Promise<unknown>): Promise<void> {
    await waited('Node in the process', () => blocksOrCatches(pid));
    const signals = setInterval(() => process.kill(pid, 'SIGUSR1'), 5);
    await work.finally(() => clearInterval(signals));
    expect(server.out() + server.err()).not.toMatch(/debugger|inspector/i);
    expect(findHolders(9229).map((holder) => holder.pid)).not.toContain(pid);
    process.kill(pid, 0);
  }

  /** A catalogue that accepts connections and sends nothing. */
  async function silentUpstream(): Promise<{ url: string; asked: Promise<unknown>; close(): void }> {
    const clients: Socket[] = [];
    const upstream = createServer((socket) => clients.push(socket.on('error', () => undefined)));
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const close = (): void => {
      upstream.close();
      for (const client of clients) client.destroy();
    };
    const { port } = upstream.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, asked: once(upstream, 'connection'), close };
  }

  test('opens no inspector and ends no server, from its first moment on', async () => {
    const { printed } = launch('serve', '--data', await sampleSnapshot(), '--port', '0', '--threads', '1');
    await signalDuring(await child('cli.ts', 'serve'), printed(/listening on/));
  });

  test('restarts a server that gets it before its Node runs', async () => {
    const { printed } = launch('serve', '--data', await sampleSnapshot(), '--port', '0', '--threads', '1');
    process.kill(await waited('a child', () => familyOf(server.pid)[1]), 'SIGUSR1');
    await printed(/listening on/);
    expect(server.err()).not.toMatch(/debugger|inspector/i);
  });

  test('opens no inspector and ends no follow --every', async () => {
    const { url, asked, close } = await silentUpstream();
    launch('follow', url, '-o', join(directory, 'followed'), '--every', '1h');
    await signalDuring(await child('cli.ts', 'follow'), asked);
    close();
  });

  test('opens no inspector and ends no process by which a server refreshes its data', async () => {
    const { url, asked, close } = await silentUpstream();
    launch('serve', '--follow', url, '--state', join(directory, 'state'), '--port', '0', '--threads', '1');
    await signalDuring(await child('cli.ts', 'follow', '--publish-to'), asked);
    close();
  });
});

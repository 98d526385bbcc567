// Signals that come before a server has said that it listens: orders end none, and who has begun to listen drains.
import { afterEach, expect, test } from 'vitest';
import { LAUNCHER_FILE } from '../../../../bench/processes/processes.ts';
import { runProgram, type CommandProcess } from '../../../support/commandProcess.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

let server: CommandProcess;
afterEach(() => server.kill());

/** A server each thread of which reads a module first. */
async function startWith(hook: string): Promise<void> {
  const early = `data:text/javascript,${encodeURIComponent(hook)}`;
  const words = ['serve', '--data', await sampleSnapshot(), '--port', '0', '--http10-port', '0', '--threads', '1'];
  server = runProgram(process.execPath, ['--import', early, LAUNCHER_FILE, ...words, '--gzip', 'live']);
}

test.each(['SIGHUP', 'SIGUSR2'])('%s ends no server, not even one whose modules are not read yet', async (signal) => {
  // The signal comes when the launcher asks for the command line: the earliest that any of ours can be told of it.
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

test('SIGHUP while the data loads has it looked at again once it is served', async () => {
  await startWith(`import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) process.kill(process.pid, 'SIGHUP');`);
  await server.printed(/^the data has not changed: generation [0-9a-f]{12} goes on$/m);
  expect(server.out()).toMatch(/^SIGHUP: the data is looked at again once it is served$/m);
});

test('SIGTERM drains a server whose thread has begun to listen, before it has said so', async () => {
  await startWith(`import { Server } from 'node:net';
    import { isMainThread } from 'node:worker_threads';
    const { listen } = Server.prototype;
    if (!isMainThread) Server.prototype.listen = function (...words) {
      return listen.call(this.once('listening', () => process.kill(process.pid, 'SIGTERM')), ...words);
    };`);
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.out()).toMatch(/^listening on (?:.*\n)+draining \.\.\. after SIGTERM /m);
});

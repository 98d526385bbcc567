// Lines of the audit that go to standard output, where that is a pipe and its reader is slow: whole, or ended, whatever
// thread writes them.
import { spawn, type ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';

const LOG_URL = new URL('../../../../server/observe/log.ts', import.meta.url).href;
/** More than a pipe takes at once, and little enough for a reader that others keep waiting. */
const LONG = 300_000;

/** A process that writes a long line and then, once it is told to, a short one; it says how the long one failed. */
function startWriter(): ChildProcess {
  const script = `import { appendLines } from ${JSON.stringify(LOG_URL)};
    process.stdout;
    try {
      appendLines(1, ['x'.repeat(${LONG})]);
    } catch (error) {
      process.stderr.write(error.code);
    }
    process.stderr.write('.');
    process.stdin.once('data', () => {
      appendLines(1, ['{}']);
      process.exit();
    });`;
  return spawn(process.execPath, ['--input-type=module', '--eval', script]);
}

test('a line that does not fit is finished as it is read', async () => {
  const writer = startWriter();
  await delay(300);
  const out = text(writer.stdout!);
  writer.stdin!.end('.');
  expect(await text(writer.stderr!)).toBe('.');
  expect(await out).toBe(`${'x'.repeat(LONG)}\n{}\n`);
});

test('one that nobody reads is given up, and ended before the next', async () => {
  const writer = startWriter();
  const told = text(writer.stderr!);
  await new Promise((resolve) => writer.stderr!.once('data', resolve));
  const out = text(writer.stdout!);
  await delay(300);
  writer.stdin!.end('.');
  expect(await told).toBe('EAGAIN.');
  expect((await out).replace(/^x+/, 'x')).toBe('x\n{}\n');
});

/** A process whose threads, each with the audit log that the first one hands it, write as the script says. */
function startThreads(script: string): ChildProcess {
  const thread = `const { workerData: { file, pipe, line, times }, parentPort } = require('node:worker_threads');
    import(${JSON.stringify(LOG_URL)}).then(({ appendLines }) => {
      for (let i = 0; i < times; i++) {
        try {
          appendLines(file, [line], pipe);
        } catch (error) {
          if (error.code !== 'EAGAIN') throw error;
        }
      }
      parentPort.postMessage('');
    });`;
  const start = `import { Worker } from 'node:worker_threads';
    import { once } from 'node:events';
    import { auditLogOf } from ${JSON.stringify(LOG_URL)};
    process.stdout;
    const write = (line, times) =>
      once(new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [], workerData: { ...auditLogOf(1), line, times } }), 'message');
    ${script}
    process.exit();`;
  return spawn(process.execPath, ['--input-type=module', '--eval', start]);
}

test('lines of several threads do not meet within one', async () => {
  const writer = startThreads(`await Promise.all(['a', 'b', 'c'].map((letter) => write(letter.repeat(${LONG}), 3)));`);
  const lines = (await text(writer.stdout!)).split('\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) expect(line.replace(/(.)\1+/g, '$1')).toMatch(/^[abc]?$/);
  expect(new Set(lines.filter((line) => line.length === LONG).map((line) => line[0])).size).toBe(3);
});

test('one that broke off in one thread is ended before that of another', async () => {
  const writer = startThreads(`await write('x'.repeat(${LONG}), 1);
    process.stderr.write('.');
    await once(process.stdin, 'data');
    await write('{}', 1);`);
  await new Promise((resolve) => writer.stderr!.once('data', resolve));
  const out = text(writer.stdout!);
  await delay(300);
  writer.stdin!.end('.');
  expect((await out).replace(/^x+/, 'x')).toBe('x\n{}\n');
});

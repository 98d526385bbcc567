import { spawn, type ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';

const LOG_URL = new URL('../../../../server/observe/log.ts', import.meta.url).href;
/** More than a pipe accepts at once, and little enough for a slow reader. */
const LONG = 300_000;

/** A process that writes a long line, and a short one when a message arrives. It reports how the long one failed. */
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

test('finishes a line that does not fit into the pipe as it is read', async () => {
  const writer = startWriter();
  await delay(300);
  const out = text(writer.stdout!);
  writer.stdin!.end('.');
  expect(await text(writer.stderr!)).toBe('.');
  expect(await out).toBe(`${'x'.repeat(LONG)}\n{}\n`);
});

test('gives up a line that has no reader, and completes it before the next', async () => {
  const writer = startWriter();
  const told = text(writer.stderr!);
  await new Promise((resolve) => writer.stderr!.once('data', resolve));
  const out = text(writer.stdout!);
  await delay(300);
  writer.stdin!.end('.');
  expect(await told).toBe('EAGAIN.');
  expect((await out).replace(/^x+/, 'x')).toBe('x\n{}\n');
});

// The output of the access log if the disk is too slow, or if the file is a pipe. The waiting lines are bounded, and
// lost lines are counted and reported. test/contract/accessLog.long.test.ts tests how lines reach a file.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { AccessLog, AccessLogs } from '../../../../server/observe/accessLog.ts';
import { appendLines, assertAuditFile } from '../../../../server/observe/log.ts';
import { ACCESS_LINES, newTally } from '../../../../server/observe/tally.ts';
import { until } from '../../../support/waits.ts';

const LINE = `${'x'.repeat(999)}\n`;
const LINES = 6000;

/** The target of a link, '' if it does not exist. */
function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe.runIf(process.platform === 'linux')('a disk that accepts no writes', () => {
  test('costs the lines beyond 4 MB, each counted once, and neither an error nor a wait at the end', async () => {
    const told: string[] = [];
    const logs = new AccessLogs('/dev/full', 1, (text, level) => told.push(`${level}: ${text}`));
    const lines = newTally(ACCESS_LINES);
    const log = new AccessLog(logs.link(lines));
    for (let i = 0; i < LINES; i++) log.write(LINE);
    const waiting = Math.floor((4 << 20) / LINE.length);
    expect([...lines]).toEqual([0, LINES - waiting]);
    await log.close();
    logs.stop();
    // The waiting lines were accepted once the file was open, and are lost with it.
    expect([...lines]).toEqual([waiting, LINES]);
    expect(told).toEqual([`error: the access log /dev/full cannot be written (ENOSPC): 6,000 lines dropped`]);
  });

  test('keeps no replaced file open, and does not subtract accepted lines', async () => {
    const logs = new AccessLogs('/dev/full', 1, () => undefined);
    const lines = newTally(ACCESS_LINES);
    const log = new AccessLog(logs.link(lines));
    const opened = (): number =>
      readdirSync('/proc/self/fd').filter((name) => linkAt(`/proc/self/fd/${name}`) === '/dev/full').length;
    await vi.waitUntil(() => opened() === 1, { timeout: 10_000 });
    for (let i = 1; i <= 3; i++) {
      log.write(LINE);
      await vi.waitUntil(() => lines[0] === i, { timeout: 10_000 });
      logs.reopen();
      await vi.waitUntil(() => lines[1] === i && opened() === 1, { timeout: 10_000 });
    }
    await log.close();
    expect(opened()).toBe(0);
    logs.stop();
  });

  test('is reported once a minute, with the lines lost since', () => {
    const told: string[] = [];
    let ms = 0;
    const logs = new AccessLogs(
      '/dev/full',
      1,
      (text) => told.push(text),
      () => ms,
    );
    const [one, other] = [newTally(ACCESS_LINES), newTally(ACCESS_LINES)];
    for (const lines of [one, other]) logs.link(lines);
    logs.poll();
    expect(told).toEqual([]);
    one[1] = 2;
    other[1] = 1;
    logs.poll();
    expect(told.pop()).toMatch(/: 3 lines dropped, /);
    one[1] = 1000;
    ms += 59_999;
    logs.poll();
    expect(told).toEqual([]);
    ms += 1;
    logs.poll();
    expect(told.pop()).toMatch(/: 998 lines dropped, /);
    ms += 60_000;
    logs.poll();
    logs.stop();
    expect(told).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('a pipe as a log', () => {
  let folder: string;
  let pipe: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'access-log-'));
    pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is refused at once without a reader, for access and audit logs', () => {
    const never = (): never => expect.unreachable();
    for (const [called, opened] of [
      ['access log', () => new AccessLogs(pipe, 1, never)],
      ['audit log', () => assertAuditFile(pipe)],
    ] as const) {
      const said = `the ${called} ${pipe} cannot be written (ENXIO: a pipe needs its reader first)`;
      expect(opened).toThrow(new OperationError('file', said, expect.anything()));
    }
  });

  test('gets the lines with a reader, which the check does not end', async () => {
    const read = join(folder, 'read');
    const reader = spawn('sh', ['-c', 'exec cat "$0" > "$1"', pipe, read]);
    const asked = (): AccessLogs => new AccessLogs(pipe, 1, () => expect.unreachable());
    await expect.poll(asked, { timeout: 10_000 }).toBeDefined();
    const logs = asked();
    const log = new AccessLog(logs.link(newTally(ACCESS_LINES)));
    log.write(LINE);
    await log.close();
    logs.stop();
    appendLines(pipe, ['{"event":1}']);
    await expect.poll(() => readFileSync(read, 'utf8'), { timeout: 20_000 }).toBe(`${LINE}{"event":1}\n`);
    expect(reader.exitCode).toBeNull();
    reader.kill();
  });
});

describe.skipIf(process.platform === 'win32')('a pipe as the audit log', () => {
  let folder: string;
  let pipe: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'audit-log-'));
    pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (line: string): void => appendLines(pipe, [line]);

  test('accepts nothing once its reader is gone, and lines again with another', async () => {
    const reader = spawn('sh', ['-c', 'exec cat "$0" > /dev/null', pipe]);
    await expect.poll(() => write('{"event":1}'), { timeout: 10_000 }).toBeUndefined();
    reader.kill();
    await until(() => {
      try {
        return write('{"event":2}') !== undefined;
      } catch (error) {
        return /ENXIO|EPIPE/.test(String(error));
      }
    });
    expect(() => write('{"event":3}')).toThrow('ENXIO');
    const read = join(folder, 'read');
    const other = spawn('sh', ['-c', 'exec cat "$0" > "$1"', pipe, read]);
    await expect.poll(() => write('{"event":4}'), { timeout: 10_000 }).toBeUndefined();
    await expect.poll(() => readFileSync(read, 'utf8'), { timeout: 10_000 }).toContain('{"event":4}\n');
    other.kill();
  });

  test('is not waited for if it is full', async () => {
    const reader = spawn('sh', ['-c', 'exec sleep 600 < "$0"', pipe]);
    await expect.poll(() => write('{"event":1}'), { timeout: 10_000 }).toBeUndefined();
    // More than a pipe holds.
    const fill = (): void => {
      for (let i = 0; i < 1000; i++) write('x'.repeat(4095));
    };
    expect(fill).toThrow('EAGAIN');
    reader.kill();
  });
});

describe('a log file that cannot be opened', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'access-log-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const ticks = { timeout: 10_000 };

  test('costs a thread lines until it can be, and never ends the thread', async () => {
    const file = join(folder, 'logs', 'a.log');
    mkdirSync(join(folder, 'logs'));
    const logs = new AccessLogs(file, 1, () => undefined);
    rmSync(join(folder, 'logs'), { recursive: true });
    const lines = newTally(ACCESS_LINES);
    const log = new AccessLog(logs.link(lines));
    log.write(LINE);
    await expect.poll(() => [...lines], ticks).toEqual([0, 1]);
    for (let i = 0; i < 40; i++) log.write(LINE);
    expect([...lines]).toEqual([0, 41]);
    mkdirSync(join(folder, 'logs'));
    await expect.poll(() => existsSync(file), ticks).toBe(true);
    await expect.poll(() => (log.write(LINE), lines[0]), ticks).toBeGreaterThan(0);
    await log.close();
    logs.stop();
    expect(readFileSync(file, 'utf8').length).toBe(lines[0]! * LINE.length);
  });

  test('on reopening is retried: meanwhile the lines go to the old file', async () => {
    const [place, file] = [join(folder, 'logs'), join(folder, 'logs', 'a.log')];
    mkdirSync(place);
    const logs = new AccessLogs(file, 1, () => undefined);
    const log = new AccessLog(logs.link(newTally(ACCESS_LINES)));
    log.write('first\n');
    await expect.poll(() => readFileSync(file, 'utf8'), ticks).toBe('first\n');
    const away = join(folder, 'away');
    renameSync(place, away);
    logs.reopen();
    await new Promise((resolve) => setTimeout(resolve, 400));
    log.write('second\n');
    await expect.poll(() => readFileSync(join(away, 'a.log'), 'utf8'), ticks).toBe('first\nsecond\n');
    mkdirSync(place);
    // The file appears shortly before the lines go to it.
    const found = (): string => (log.write('third\n'), existsSync(file) ? readFileSync(file, 'utf8') : '');
    await expect.poll(found, ticks).not.toBe('');
    await log.close();
    logs.stop();
    expect(readFileSync(file, 'utf8')).toMatch(/^(?:third\n)+$/);
  });
});

// Observers of events: the log's lines and its file, and the counters.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import type { AuthorisationRecord, ServiceEvent } from '../../../../server/observe/events.ts';
import { appendingTo, appendLines, logLine, logTo } from '../../../../server/observe/log.ts';
import { newMetrics } from '../../../../server/observe/metrics.ts';

const GRANTED: AuthorisationRecord = {
  kind: 'authorisation',
  at: 1_900_000_000,
  status: 'AccessGranted',
  reason: '',
  sentence: '',
  holder: '/CN="\n\u2028',
  proxy: 'full',
  roles: ['staff'],
  provenance: 'original',
  serialNumber: '7',
  notAfter: 1_900_000_001,
  issuedDigest: 'aa',
  chainDigest: 'bb',
  isWritten: false,
};
const DENIED: AuthorisationRecord = { ...GRANTED, status: 'AccessDenied', reason: 'unregistered', sentence: 'Who?' };
const LOADED: ServiceEvent = { kind: 'authorityLoaded', at: 0, siteName: 'Here', users: 1, hosts: 2, notes: [] };
const REFUSED: ServiceEvent = { kind: 'authorityReloadRefused', at: 0, mistakes: ['x'] };

const directories: string[] = [];
function directory(): string {
  directories.push(mkdtempSync(join(tmpdir(), 'log-')));
  return directories.at(-1)!;
}
afterEach(() => {
  for (const one of directories.splice(0)) rmSync(one, { recursive: true });
});

describe('the log', () => {
  test('has a line of JSON for an event, its time and kind first, and no line break inside', () => {
    const line = logLine(GRANTED);
    expect(line).toMatch(/^\{"time":"2030-03-17T17:46:40.000Z","event":"authorisation","status":"AccessGranted",/);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ holder: GRANTED.holder, roles: ['staff'], serialNumber: '7' });
    expect(logLine({ ...GRANTED, isWritten: true })).toBe(line);
    expect(logLine(DENIED)).toContain('"reason":"unregistered","sentence":"Who?"');
  });

  test('is appended to a file that others cannot read, and goes on in a new one when it is moved away', () => {
    const file = join(directory(), 'audit.log');
    const observe = logTo(appendingTo(file, () => expect.unreachable()));
    observe([GRANTED, DENIED]);
    expect(readFileSync(file, 'utf8')).toBe(`${logLine(GRANTED)}\n${logLine(DENIED)}\n`);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    renameSync(file, `${file}.1`);
    observe([LOADED]);
    expect(readFileSync(file, 'utf8')).toBe(`${logLine(LOADED)}\n`);
  });

  test.each(['', '{"event":0}\n', '\n'])('goes on behind %j as it is', (before) => {
    const file = join(directory(), 'audit.log');
    writeFileSync(file, before);
    appendLines(file, ['{"event":1}']);
    expect(readFileSync(file, 'utf8')).toBe(`${before}{"event":1}\n`);
  });

  test('ends a line that broke off before the next one, at the start and later, so that each is read', () => {
    const file = join(directory(), 'audit.log');
    writeFileSync(file, '{"event":1}\n{"ev');
    const append = appendingTo(file, () => expect.unreachable());
    append(['{"event":2}']);
    writeFileSync(file, '{"event":"another thr', { flag: 'a' });
    append(['{"event":3}', '{"event":4}']);
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([
      '{"event":1}',
      '{"ev',
      '{"event":2}',
      '{"event":"another thr',
      '{"event":3}',
      '{"event":4}',
      '',
    ]);
  });

  test.runIf(process.platform === 'linux')('ends a line that there was no room for', () => {
    const file = join(directory(), 'audit.log');
    // The system lets this process write so many bytes of a file and no more, as a full disk does.
    const script = `
      import { readFileSync } from 'node:fs';
      import { appendLines } from ${JSON.stringify(new URL('../../../../server/observe/log.ts', import.meta.url).href)};
      process.on('SIGXFSZ', () => undefined);
      appendLines(${JSON.stringify(file)}, ['x'.repeat(600)]);
      try { appendLines(${JSON.stringify(file)}, ['y'.repeat(600)]); } catch ({ code }) { process.stdout.write(code); }`;
    const limited = `ulimit -f 1; exec "$0" --disable-warning=ExperimentalWarning --input-type=module -e "$1"`;
    expect(execFileSync('bash', ['-c', limited, process.execPath, script], { encoding: 'utf8' })).toBe('EFBIG');
    expect(statSync(file).size).toBe(1024);
    appendLines(file, ['{"event":1}']);
    expect(readFileSync(file, 'utf8').split('\n').slice(2)).toEqual(['{"event":1}', '']);
  });

  test('that cannot be written is refused at the start, and told line by line later', () => {
    const where = directory();
    expect(() => appendingTo(join(where, 'none', 'audit.log'), () => {})).toThrow(OperationError);
    const lost: string[] = [];
    const append = appendingTo(join(where, 'audit.log'), (line) => lost.push(line));
    rmSync(where, { recursive: true });
    append(['{"event":1}', '{"event":2}']);
    directories.pop();
    expect(lost).toEqual([
      expect.stringMatching(/cannot be written \(ENOENT\): \{"event":1\}$/),
      expect.stringMatching(/cannot be written \(ENOENT\): \{"event":2\}$/),
    ]);
  });
});

test('counters tell how many events of each status and reason there were, in the format of Prometheus', () => {
  const metrics = newMetrics();
  metrics.observe([LOADED, GRANTED, DENIED, GRANTED]);
  metrics.observe([REFUSED]);
  expect(metrics.text()).toBe(
    [
      '# HELP authority_authorisations_total Requests to be authorised, by status and reason.',
      '# TYPE authority_authorisations_total counter',
      'authority_authorisations_total{status="AccessDenied",reason="unregistered"} 1',
      'authority_authorisations_total{status="AccessGranted",reason=""} 2',
      '# HELP authority_loads_total Configurations of the authority that were loaded or refused.',
      '# TYPE authority_loads_total counter',
      'authority_loads_total{outcome="loaded"} 1',
      'authority_loads_total{outcome="refused"} 1',
      '# HELP authority_bugs_total Requests to be authorised that met a bug.',
      '# TYPE authority_bugs_total counter',
      '',
    ].join('\n'),
  );
});

test('tallies of several threads are told as their sums, and what was never counted is not', () => {
  const cells = ['none', 'some', 'many'].map((status) => ({ operation: 'x', status }));
  const metric = { name: 'answers_total', help: 'Answers.', cells };
  const metrics = newMetrics();
  const [one, other] = [metrics.tally(metric), metrics.tally(metric)];
  one.set([0, 1, 2 ** 40]);
  other.set([0, 0, 1]);
  expect(one.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(metrics.text().split('\n').slice(-5)).toEqual([
    '# HELP answers_total Answers.',
    '# TYPE answers_total counter',
    'answers_total{operation="x",status="some"} 1',
    `answers_total{operation="x",status="many"} ${2 ** 40 + 1}`,
    '',
  ]);
});

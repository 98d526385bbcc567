// Observers of events: the log's lines and its file, and the counters.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { type AuthorisationRecord, REFUSALS, type ServiceEvent } from '../../../../server/observe/events.ts';
import { appendLines, assertAuditFile, logLine, logTo } from '../../../../server/observe/log.ts';
import { type Metrics, newMetrics } from '../../../../server/observe/metrics.ts';
import { observeValue } from '../../../../server/observe/tally.ts';

const GRANTED: AuthorisationRecord = {
  kind: 'authorisation',
  at: 1_900_000_000,
  status: 'AccessGranted',
  reason: '',
  sentence: '',
  requestId: 'c0ffee',
  peer: '192.0.2.1',
  holder: '/CN="\n\u2028',
  claimed: '',
  proxy: 'full',
  site: '',
  roles: ['staff'],
  provenance: 'original',
  serialNumber: '7',
  notAfter: 1_900_000_001,
  issuedDigest: 'aa',
  chainDigest: 'bb',
};
const DENIED: AuthorisationRecord = { ...GRANTED, status: 'AccessDenied', reason: 'unregistered', sentence: 'Who?' };
const LOADED: ServiceEvent = {
  kind: 'authorityLoaded',
  at: 0,
  siteName: 'Here',
  users: 1,
  hosts: 2,
  unusableFiles: 0,
  notes: [],
};
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
  test('has a line of JSON for an event, with time and kind first, and no line break inside', () => {
    const line = logLine(GRANTED);
    expect(line).toMatch(/^\{"time":"2030-03-17T17:46:40.000Z","event":"authorisation","status":"AccessGranted",/);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ holder: GRANTED.holder, roles: ['staff'], serialNumber: '7' });
    expect(logLine(DENIED)).toContain('"reason":"unregistered","sentence":"Who?"');
  });

  test('is appended to a file that others cannot read, and continues in a new one when it is moved away', () => {
    const file = join(directory(), 'audit.log');
    const observe = logTo((lines) => appendLines(file, lines));
    observe([GRANTED, DENIED]);
    expect(readFileSync(file, 'utf8')).toBe(`${logLine(GRANTED)}\n${logLine(DENIED)}\n`);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    renameSync(file, `${file}.1`);
    observe([LOADED]);
    expect(readFileSync(file, 'utf8')).toBe(`${logLine(LOADED)}\n`);
  });

  test.each(['', '{"event":0}\n', '\n'])('continues after %j without a change', (before) => {
    const file = join(directory(), 'audit.log');
    writeFileSync(file, before);
    appendLines(file, ['{"event":1}']);
    expect(readFileSync(file, 'utf8')).toBe(`${before}{"event":1}\n`);
  });

  test('completes a broken line before the next one, at the start and later, so that each can be read', () => {
    const file = join(directory(), 'audit.log');
    writeFileSync(file, '{"event":1}\n{"ev');
    appendLines(file, ['{"event":2}']);
    writeFileSync(file, '{"event":"another thr', { flag: 'a' });
    appendLines(file, ['{"event":3}', '{"event":4}']);
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

  test.runIf(process.platform === 'linux')('completes a line that did not fit', () => {
    const file = join(directory(), 'audit.log');
    // The system lets this process write this many bytes of a file, and then fails as a full disk does.
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

  test('is refused at the start if it cannot be written', () => {
    expect(() => assertAuditFile(join(directory(), 'none', 'audit.log'))).toThrow(OperationError);
  });
});

/** The lines of a metric, without those of its name and help. */
async function linesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const lines = (await metrics.text()).split('\n');
  expect(lines.filter((line) => line.startsWith(`# HELP catalogue_replica_${name} `))).toHaveLength(1);
  return lines.filter((line) => line.startsWith(`catalogue_replica_${name}`)).map((line) => line.slice(PREFIX.length));
}

const PREFIX = 'catalogue_replica_';

describe('metrics', () => {
  test('count events by status and reason, in the format of Prometheus', async () => {
    const metrics = newMetrics();
    metrics.observe([LOADED, GRANTED, DENIED, GRANTED]);
    metrics.observe([REFUSED]);
    const decisions = await linesOf(metrics, 'authority_authorisations_total');
    expect(decisions.slice(0, 2)).toEqual([
      'authority_authorisations_total{status="AccessGranted",reason=""} 2',
      'authority_authorisations_total{status="AccessDenied",reason="unregistered"} 1',
    ]);
    // All other reasons have a line and start at 0.
    expect(decisions).toHaveLength(1 + Object.keys(REFUSALS).length);
    for (const line of decisions.slice(2)) expect(line).toMatch(/\{status="Access(Denied|Error)",reason="\w+"\} 0$/);
    expect(await linesOf(metrics, 'authority_loads_total')).toEqual([
      'authority_loads_total{outcome="loaded"} 1',
      'authority_loads_total{outcome="refused"} 1',
    ]);
    expect(await linesOf(metrics, 'authority_bugs_total')).toEqual(['authority_bugs_total 0']);
  });

  test('have histograms of several threads, in cumulative buckets', async () => {
    const metric = { name: 'seconds', help: 'Time.', buckets: [0.1, 1], curves: [{ route: 'a' }, { route: 'b' }] };
    const metrics = newMetrics();
    const [one, other] = [metrics.tally(metric), metrics.tally(metric)];
    for (const value of [0.05, 0.1, 0.5, 7]) observeValue(one, metric, 1, value);
    observeValue(other, metric, 1, 1);
    expect(await linesOf(metrics, 'seconds')).toEqual([
      ...['bucket{route="a",le="0.1"}', 'bucket{route="a",le="1"}', 'bucket{route="a",le="+Inf"}'].map(
        (name) => `seconds_${name} 0`,
      ),
      'seconds_sum{route="a"} 0',
      'seconds_count{route="a"} 0',
      'seconds_bucket{route="b",le="0.1"} 2',
      'seconds_bucket{route="b",le="1"} 4',
      'seconds_bucket{route="b",le="+Inf"} 5',
      'seconds_sum{route="b"} 8.65',
      'seconds_count{route="b"} 5',
    ]);
  });

  test('have the current values of gauges, and those of Node, under one prefix', async () => {
    const metrics = newMetrics();
    let values: (readonly [string, number])[] = [];
    metrics.gauge({ name: 'things', help: 'Things.', label: 'of', valuesOf: () => values });
    expect(await linesOf(metrics, 'things')).toEqual([]);
    values = [
      ['a', 1],
      ['b', 2],
    ];
    expect(await linesOf(metrics, 'things')).toEqual(['things{of="a"} 1', 'things{of="b"} 2']);
    values = [['b', 0]];
    expect(await linesOf(metrics, 'things')).toEqual(['things{of="b"} 0']);
    expect(await linesOf(metrics, 'process_resident_memory_bytes')).toHaveLength(1);
    const names = (await metrics.text()).matchAll(/^# TYPE (\S+) /gm);
    for (const [, name] of names) expect(name!.startsWith(PREFIX)).toBe(true);
  });
});

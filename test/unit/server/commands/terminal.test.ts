// Human-readable output: progress lines at intervals, aligned tables, sizes in words, the reports.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { hasProgram } from '../../../support/debian.ts';
import { importText, profileText } from '../../../../server/commands/import.ts';
import { bytesText, countText } from '../../../../server/observe/quantities.ts';
import { progressLines, reportTo, tableText, withProgress } from '../../../../server/commands/terminal.ts';

/** The output to a terminal, with the escape character spelled out. */
function visible(text: string): string {
  return text.replaceAll('\u001b', '<esc>');
}

/** A clock that the test sets. */
function testClock(): { ms: number; read: () => number } {
  const clock = { ms: 0, read: () => clock.ms };
  return clock;
}

describe('progress without a terminal', () => {
  test('is a plain line at most every three seconds, with the rate so far and the remaining time', () => {
    const lines: string[] = [];
    const clock = testClock();
    const onProgress = progressLines({ write: (text) => lines.push(text) }, clock.read);
    for (let done = 0; done <= 1000; done += 100) {
      onProgress({ phase: 'reading platforms', done, total: 1000, unit: 'records' });
      clock.ms += 1000;
    }
    expect(lines).toEqual([
      'reading platforms: 30 % (300 of 1,000 records), 100/s, 7 s left\n',
      'reading platforms: 60 % (600 of 1,000 records), 100/s, 4 s left\n',
      'reading platforms: 90 % (900 of 1,000 records), 100/s, 1 s left\n',
    ]);
  });

  test('counts phases with one total as one piece of work, and others from their own start', () => {
    const lines: string[] = [];
    const clock = testClock();
    const onProgress = progressLines({ write: (text) => lines.push(text) }, clock.read);
    const report = (phase: string, done: number, total: number): void => {
      onProgress({ phase, done, total, unit: 'bytes' });
      clock.ms += 5000;
    };
    report('importing notes', 0, 4_000_000);
    report('importing notes', 1000, 4_000_000);
    report('importing times', 2_000_000, 4_000_000);
    report('loading', 10, 100);
    report('loading', 20, 100);
    expect(lines).toEqual([
      'importing notes: 0 % (1.0 kB of 4.0 MB), 334 min left\n',
      'importing times: 50 % (2.0 MB of 4.0 MB), 10 s left\n',
      'loading: 10 % (10 B of 100 B)\n',
      'loading: 20 % (20 B of 100 B), 40 s left\n',
    ]);
  });

  test('shows the finished amount if the total is unknown', () => {
    const lines: string[] = [];
    const clock = testClock();
    const onProgress = progressLines({ write: (text) => lines.push(text) }, clock.read);
    for (const unit of ['bytes', 'records'] as const) {
      clock.ms += 3000;
      onProgress({ phase: 'writing', done: 12_345, total: 0, unit });
    }
    expect(lines).toEqual(['writing: 12.3 kB\n', 'writing: 12,345 records\n']);
  });

  test('prints nothing for quick work, and returns its result', async () => {
    const lines: string[] = [];
    const result = await withProgress({ write: (text) => lines.push(text) }, async (onProgress) => {
      onProgress({ phase: 'reading', done: 1, total: 1, unit: 'records' });
      return 7;
    });
    expect({ result, lines }).toEqual({ result: 7, lines: [] });
  });
});

describe('progress on a terminal', () => {
  /** A terminal that records its input. */
  function terminal(): { stream: PassThrough; written: () => string } {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
    return { stream, written: () => String(stream.read() ?? '') };
  }

  test('is a bar per phase, and ends where an error ends the work', async () => {
    const { stream, written } = terminal();
    const work = withProgress(stream, async (onProgress) => {
      onProgress({ phase: 'reading', done: 0, total: 2_000_000, unit: 'bytes' });
      onProgress({ phase: 'reading', done: 2_000_000, total: 2_000_000, unit: 'bytes' });
      onProgress({ phase: 'writing', done: 3, total: 0, unit: 'records' });
      throw new Error('disk full');
    });
    await expect(work).rejects.toThrow('disk full');
    const text = written();
    expect(text).toContain('reading [');
    expect(text).toContain('0 % (0 B of 2.0 MB)');
    expect(text).toContain('writing [');
    expect(text).toContain('3 records');
  });

  test('is removed before a report, and comes back after it', async () => {
    const { stream, written } = terminal();
    const report = reportTo(stream, false);
    const progress = { phase: 'reading', done: 1, total: 2, unit: 'bytes' } as const;
    await withProgress(stream, async (onProgress) => {
      onProgress(progress);
      expect(written()).toContain('reading [');
      report('a step is done');
      expect(visible(written())).toMatch(/<esc>\[2K[^\n]*a step is done\n$/);
      onProgress(progress);
      expect(written()).toContain('reading [');
    });
    report('the end');
    expect(written()).toMatch(/the end\n$/);
  });

  test('never leaves a terminal without line wrapping', async () => {
    const { stream, written } = terminal();
    await withProgress(stream, async (onProgress) =>
      onProgress({ phase: 'reading', done: 0, total: 1, unit: 'bytes' }),
    );
    expect(written()).not.toContain('\u001b[?7');
  });
});

test.skipIf(!hasProgram('script'))('removes the bar on Ctrl-C and ends the command by its signal', async () => {
  const work = `
    import { withProgress } from './server/commands/terminal.ts';
    await withProgress(process.stderr, (onProgress) => new Promise(() => {
      setInterval(() => onProgress({ phase: 'reading', done: 1, total: 2, unit: 'bytes' }), 10);
    }));`;
  const words = ['-qefc', `exec ${process.execPath} --input-type=module-typescript -e "$WORK"`, '/dev/null'];
  const child = spawn('script', words, { env: { ...process.env, WORK: work }, stdio: ['pipe', 'pipe', 'ignore'] });
  let shown = '';
  child.stdout.on('data', (piece: Buffer) => {
    shown += String(piece);
    if (shown.includes('reading [') && !shown.includes('^C')) child.stdin.write('\u0003');
  });
  const [code] = (await once(child, 'close')) as [number];
  expect(visible(shown)).toMatch(/<esc>\[2K(?:\^C)*$/);
  expect(code).toBe(128 + constants.signals.SIGINT);
});

describe('numbers in reports', () => {
  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [433_000_000, '433.0 MB'],
    [4_294_967_296, '4.3 GB'],
    [Number.MAX_SAFE_INTEGER, '9007.2 TB'],
  ])('for %d bytes are %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });

  test('have separators if they are counts', () => {
    expect(countText(1_234_567)).toBe('1,234,567');
  });
});

describe('tables in reports', () => {
  test('are aligned, numbers to the right, without blanks at the end of a line', () => {
    const rows = [
      ['name', 'records', 'note'],
      ['platforms', '1,234', 'x'],
      ['ipps', '5', ''],
    ];
    expect(tableText(rows)).toBe('name       records  note\nplatforms    1,234  x\nipps             5');
  });

  test('wrap texts to fit 80 columns, but break no word and no number', () => {
    const path = `/srv/${'x'.repeat(30)}`;
    const text = 'reads twelve words that do not fit next to a long path of a file';
    const lines = tableText([
      ['file', 'meaning', 'bytes'],
      [path, text, '12 kB'],
      ['/', 'one', '3 B'],
    ]).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(new RegExp(`^${path}  reads twelve .* 12 kB$`));
    expect(`${lines[1]!.slice(37, 71).trim()} ${lines[2]!.trim()}`).toBe(text);
    expect(tableText([['file'], ['x'.repeat(90)]])).toBe(`file\n${'x'.repeat(90)}`);
  });

  test('may have only a head, or nothing', () => {
    expect(tableText([['a', 'b']])).toBe('a  b');
    expect(tableText([])).toBe('');
  });

  test('may have more rows than a call has arguments', () => {
    const rows = Array.from({ length: 300_000 }, (_, i) => [`${i}`]);
    expect(tableText([['row'], ...rows]).slice(-14)).toBe('\n299998\n299999');
  });
});

describe('reports', () => {
  test('of an import have a line per collection, totals, skipped and ignored records, and the file', () => {
    const row = { inputBytes: 5000, skipped: 1, nulls: 2, recordBytes: 4000, indexBytes: 100 };
    const collections = [
      { name: 'ipps', records: 10, ...row, dangling: 0, firstDangling: undefined },
      { name: 'mpos', records: 1200, ...row, dangling: 3000, firstDangling: 'owner to parties/4' },
    ];
    const skipped = ['ipps.ndjson:1 /ob_id is missing'];
    const inferred = [
      { collection: 'ipps', fields: [] },
      { collection: 'mpos', fields: ['size integer', 'owner link to parties'] },
    ];
    const origin = { generation: 'abc', sums: {}, skipped: {}, undeclared: [] };
    const work = { carried: 0, merged: 0, parsed: 1210 };
    const report = {
      collections,
      snapshotBytes: 9000,
      generation: 'abc',
      skipped,
      skippedCount: 2,
      ignored: ['ipps.json', 'mpos.jsonl'],
      inferred,
      misfits: [
        {
          collection: 'mpos',
          field: 'size',
          type: 'integer' as const,
          values: 2,
          examples: [
            { id: 7, text: 'x', place: 'mpos.ndjson:3' },
            { id: 8, text: 'y' },
          ],
        },
      ],
      origin,
      work,
      kept: new Map(),
      stages: [],
    };
    const lines = importText(report, 'x.snapshot').split('\n');
    expect(lines.slice(0, 9)).toEqual([
      'collection  records  nulls    input  stored  indexes',
      'ipps             10      2   5.0 kB  4.0 kB    100 B',
      'mpos          1,200      2   5.0 kB  4.0 kB    100 B',
      'total         1,210      4  10.0 kB  8.0 kB    200 B',
      'skipped in ipps: 1',
      'skipped in mpos: 1',
      'dangling in mpos: 3,000, such as owner to parties/4',
      'inferred in mpos: size integer, owner link to parties',
      'skipped: ipps.ndjson:1 /ob_id is missing',
    ]);
    expect(lines.slice(-4)).toEqual([
      'skipped: 1 more',
      'warning: mpos.size: 2 values do not fit the type integer: "x" in record 7 (mpos.ndjson:3), "y" in record 8',
      'ignored: ipps.json, mpos.jsonl; want .ndjson or .ndjson.gz',
      'x.snapshot: 9.0 kB, generation abc',
    ]);
  });

  test('of the CPU time of an import have a line per stage with its share, and the total', () => {
    const stages = [
      { stage: 'reading' as const, seconds: 0.25 },
      { stage: 'other' as const, seconds: 0.75 },
    ];
    const lines = profileText({ stages }).split('\n');
    expect(lines[0]).toBe('stage    CPU s  share');
    expect(lines[1]).toMatch(/^reading +0\.25 +25 % +reading files/);
    expect(lines.slice(2)).toEqual(['other     0.75  75 %   threads, garbage, the disk', 'total     1.00']);
  });
});

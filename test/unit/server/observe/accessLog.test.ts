// The access log's way out where the disk does not keep up: what waits is bounded, what is lost is counted and told.
// How lines reach a file is in test/contract/accessLog.long.test.ts.
import { describe, expect, test } from 'vitest';
import { AccessLog, AccessLogs } from '../../../../server/observe/accessLog.ts';
import { ACCESS_LINES, newTally } from '../../../../server/observe/tally.ts';

const LINE = `${'x'.repeat(999)}\n`;
const LINES = 6000;

describe.runIf(process.platform === 'linux')('a disk that takes nothing', () => {
  test('costs the lines beyond 4 MB, each counted once, and neither an error nor a wait at the end', async () => {
    const told: string[] = [];
    const logs = new AccessLogs('/dev/full', 1, (text, level) => told.push(`${level}: ${text}`));
    const lines = newTally(ACCESS_LINES);
    const log = new AccessLog(logs.link(lines));
    for (let i = 0; i < LINES; i++) log.write(LINE);
    const [taken = 0, dropped = 0] = lines;
    expect(taken + dropped).toBe(LINES);
    expect(taken * LINE.length).toBeLessThanOrEqual(4 << 20);
    expect((taken + 1) * LINE.length).toBeGreaterThan(4 << 20);
    await log.close();
    logs.stop();
    expect(told).toEqual([
      `error: the access log /dev/full cannot be written (ENOSPC): 1,806 lines dropped, what waits is tried again`,
    ]);
  });

  test('is told of once a minute, with what was lost since', () => {
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
    logs.look();
    expect(told).toEqual([]);
    one[1] = 2;
    other[1] = 1;
    logs.look();
    expect(told.pop()).toMatch(/: 3 lines dropped, /);
    one[1] = 1000;
    ms += 59_999;
    logs.look();
    expect(told).toEqual([]);
    ms += 1;
    logs.look();
    expect(told.pop()).toMatch(/: 998 lines dropped, /);
    ms += 60_000;
    logs.look();
    logs.stop();
    expect(told).toEqual([]);
  });
});

// A short campaign of a new seed each time: no strain finds anything, all of them have had their turns, and the
// watching client never waits for long. And a short soak, and how the command ends. `npm run campaign` is longer.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { freshSeed } from '../support/random.ts';
import { table, totalOf } from './report.ts';
import { campaign, type Find } from './run.ts';
import { soak } from './soak.ts';
import { STRAINS } from './strains/all.ts';

const CAMPAIGN = fileURLToPath(new URL('campaign.ts', import.meta.url));
const SEED = freshSeed();
const SECONDS = 40;
/** Far beyond what is judged by `npm run campaign`: machines of tests are noisy. */
const WORST_WAIT_MS_MAX = 2000;

test.skipIf(process.platform !== 'linux')(`a short campaign finds nothing (seed ${SEED})`, async () => {
  const found: Find[] = [];
  const leaks: string[] = [];
  const { tallies, memory, rest } = await campaign({
    seed: SEED,
    observations: 0,
    seconds: SECONDS,
    restMs: 3000,
    isOver: () => false,
    onFind: (find) => found.push(find),
    onLeak: (line) => leaks.push(line),
    onMinute: () => undefined,
  });
  process.stderr.write(`${table(tallies, memory, rest)}\n`);
  expect([found, leaks]).toEqual([[], []]);
  expect(tallies.filter(({ turns }) => turns > 0)).toHaveLength(STRAINS.length);
  const { verified, tried, worstMs } = totalOf(tallies);
  expect(Math.min(verified, tried)).toBeGreaterThan(0);
  expect(worstMs).toBeLessThan(WORST_WAIT_MS_MAX);
});

test('a short soak gets the right bytes each time', async () => {
  const steps: string[] = [];
  const { answers, fault } = await soak({
    seed: 1,
    observations: 10_000,
    minutes: 0.2,
    isOver: () => false,
    onStep: (line) => steps.push(line),
  });
  process.stderr.write(`${steps.join('\n')}\n`);
  expect(fault).toBeUndefined();
  const [, perSecond] = /, (\d+) from now on/.exec(steps[0]!)!;
  expect(answers).toBeGreaterThanOrEqual(Number(perSecond) * 12);
});

test.skipIf(process.platform !== 'linux')('a soak that Ctrl-C ends has no fault', async () => {
  const words = [CAMPAIGN, '--soak', '--minutes', '10', '--observations', '1000', '--seed', '1'];
  const running = runProgram(process.execPath, words, { isGroup: true });
  await running.printed(/from now on\n/);
  running.signal('SIGINT');
  expect(await running.ended).toEqual({ code: 0, signal: null });
  expect(running.out()).toMatch(/\n\d+ answers checked, none of them wrong; too short to tell how memory grows\n$/);
});

test('what is no number, no find, a find of no strain, or two campaigns at once, ends with 2', async () => {
  const file = join(temporaryDirectory(), '1.json');
  writeFileSync(file, JSON.stringify({ strain: 'afterwards', turnSeed: 0, seed: 1, observations: 0, finds: [] }));
  const wrong = [
    ['--minutes', 'ten'],
    ['--repeat', `${file}.none`],
    ['--repeat', file],
    ['--soak', '--dear'],
  ];
  const ends = await Promise.all(
    wrong.map(async (words) => {
      const { ended, err } = runProgram(process.execPath, [CAMPAIGN, ...words]);
      return [(await ended).code, err().trim()];
    }),
  );
  expect(ends).toEqual([
    [2, expect.stringMatching(/^error: .* It must be a number from 0\.$/)],
    [2, expect.stringMatching(/^error: .* It must be the file of a find: ENOENT/)],
    [2, expect.stringMatching(/^campaign: there is no strain afterwards; the strains are /)],
    [2, "error: option '--soak' cannot be used with option '--dear'"],
  ]);
});

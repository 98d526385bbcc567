// How `npm run campaign` exits: on Ctrl-C during a soak, and on wrong usage. campaign.long.test.ts covers what
// campaigns and soaks find.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';

const CAMPAIGN = fileURLToPath(new URL('campaign.ts', import.meta.url));

test.skipIf(process.platform !== 'linux')('reports no fault when Ctrl-C ends a soak', async () => {
  const words = [CAMPAIGN, '--soak', '--minutes', '10', '--observations', '1000', '--seed', '1'];
  const running = runProgram(process.execPath, words, { isGroup: true });
  await running.printed(/from now on\n/);
  running.signal('SIGINT');
  expect(await running.ended).toEqual({ code: 0, signal: null });
  expect(running.out()).toMatch(/\n\d+ answers checked, none of them wrong; too short to tell how memory grows\n$/);
});

test('exits with 2 on an invalid number, a missing find, a find of an unknown strain, or two modes at once', async () => {
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

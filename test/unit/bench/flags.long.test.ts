// The command line of the bench: what would mean nothing to a run is refused in plain words, and nothing is measured.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../../support/commandProcess.ts';

const BENCH = fileURLToPath(new URL('../../../bench/bench.ts', import.meta.url));

async function ran(words: string) {
  const { ended, out, err } = runProgram(process.execPath, [BENCH, ...words.split(' ')]);
  const { code } = await ended;
  return { code, said: out() + err() };
}

test('flags that mean nothing to a run are refused, and so are two runs at once', async () => {
  const wrong = ['--peers --only tiny', '--micro --against HEAD', '--soap --proxy', '--data-set . --observations 9'];
  const outcomes = await Promise.all(wrong.map(ran));
  expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
  expect(outcomes.map(({ said }) => said.trim())).toEqual([
    "error: option '--peers' cannot be used with option '--only <name>'",
    "error: option '--micro' cannot be used with option '--against <revision>'",
    "error: option '--soap' cannot be used with option '--proxy'",
    "error: option '--data-set <dir>' cannot be used with option '--observations <count>'",
  ]);
});

test('the help says what each run takes', async () => {
  const { code, said } = await ran('--help');
  expect(code).toBe(0);
  expect(said).toMatch(/^ +--soap +--rounds --quick$/m);
  expect(said).toMatch(/^ +--start +--observations --seed --data-set --snapshot --rounds$/m);
});

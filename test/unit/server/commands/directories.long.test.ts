import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
const data = dataSetOf(directory, {
  'observations.ndjson': '{"ob_id":1,"title":null}\n{"ob_id":2,"title":17}\n{"ob_id":3,"title":"x"}\n',
});
const exported = join(directory, 'observations.ndjson');
const COMMANDS: readonly (readonly string[])[] = [
  ['explain', '/api/v3/observations/', '--data', data],
  ['export', 'observations', '-o', exported, '--force', '--data', data],
  ['stats', data],
];

async function run(words: readonly string[]): Promise<{ code: number | null; said: string }> {
  const command = runCommand(words);
  const { code } = await command.ended;
  return { code, said: command.out() + command.err() };
}

describe.each(COMMANDS)('the command over a directory: %s', (...words) => {
  test('refuses faulty records, and names the flags that accept or skip them', async () => {
    const { code, said } = await run(words);
    expect(code).toBe(1);
    expect(said).toContain(
      '2 faulty lines; --lenient leaves such lines out; --take-nulls takes the null that makes 1 of them faulty',
    );
  });

  test('skips them and accepts nulls with these flags', async () => {
    const { code, said } = await run([...words, '--lenient', '--take-nulls']);
    expect([code, said]).toEqual([
      0,
      expect.stringMatching(/left out: \S+:2: \/title: expected text, got a number\n[^]*left out: 1 in all\n/),
    ]);
    if (words[0] !== 'export') return;
    expect(readFileSync(exported, 'utf8')).toBe('{"ob_id":1,"title":null}\n{"ob_id":3,"title":"x"}\n');
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../../server/commands/commands.ts';

let script = '';
beforeAll(async () => {
  const output = { write: (text: string) => void (script += text) };
  await (await commandLine({ stdout: output, stderr: output })).parseAsync(['completion'], { from: 'user' });
});

/** The completions that bash offers for these arguments; the user is typing the last one. */
function completions(...words: readonly string[]): readonly string[] {
  const quoted = ['catalogue-replica', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _catalogue_replica; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8', cwd: import.meta.dirname })
    .trim()
    .split('\n');
}

describe.skipIf(spawnSync('bash', ['--version']).status !== 0)('completion', () => {
  test.each<[words: readonly string[], offered: readonly string[]]>([
    [['ser'], ['serve']],
    [['authority', 'ch'], ['check']],
    [['serve', '--row'], ['--row-set-cache-mb']],
    [
      ['serve', '--port', '80', '--links', ''],
      ['spec', 'request'],
    ],
    [['export', '--form'], ['--format']],
    [['verify', 'help'], ['help.test.ts']],
  ])('offers for %j: %j', (words, offered) => expect(completions(...words)).toEqual(offered));

  test('offers every command, and no flag of another command', () => {
    expect(completions('')).toContain('crawl');
    expect(completions('verify', '--')).toEqual(['--deep', '--help']);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../../../server/settings/declarations.ts';
import { flagName } from '../../../../server/settings/sources.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { parse } from '../../../support/parsedWords.ts';

const directory = temporaryDirectory();
const COMMANDS =
  'serve import verify publish prune generate crawl follow diff changes explain fields export stats authority'.split(
    ' ',
  );

test('lists every command', async () => {
  const { out, thrown } = await parse('--help');
  for (const command of COMMANDS) expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
  expect(thrown).toMatchObject({ exitCode: 0 });
});

test.each(COMMANDS)('ends for %s with an example', async (command) => {
  const { out, error } = await parse(command, '--help');
  expect(out.trimEnd().split('\n').slice(-2)).toEqual([
    'Example:',
    expect.stringMatching(new RegExp(`^  catalogue-replica ${command} `)),
  ]);
  expect(error).toBe('');
});

test.each(['import', 'export', 'crawl', 'follow', 'publish', 'prune'])(
  'names for %s --config, which it accepts, and the flags of that file',
  async (command) => {
    const { out } = await parse(command, '--help');
    expect(out).toContain('\n  --config <path>');
    const [, words = ''] = /set\s+these\s+too:\s([^.]*)\./.exec(out)!;
    for (const flag of words.split(/,\s+/)) expect(out).toMatch(new RegExp(`^ {2}(?:-., )?${flag} `, 'm'));
  },
);

test('shows that import reads its settings from a file', async () => {
  const config = join(directory, 'import.toml');
  writeFileSync(config, 'logFormat = "other"\n');
  const { thrown } = await parse('import', 'x', '-o', 'y', '--config', config);
  expect(String(thrown)).toContain(`${config}:1:1: key logFormat: got "other"`);
});

test.each(['serve', 'explain'])('shows for %s the settings by group, in 80 columns', async (command) => {
  const { out } = await parse(command, '--help');
  const headings = out.match(/^[A-Z]\w+:$/gm)!.filter((heading) => !/^(?:Arguments|Options|Example):/.test(heading));
  expect(headings.toSorted()).toEqual([...new Set(SETTINGS.map(({ group }) => `${group}:`))].toSorted());
  const block = new RegExp(`^Limits:\n(?: .*\n)*?  --limit-max `, 'm');
  expect(out).toMatch(block);
  expect(out.split('\n').filter((line) => line.length > 80 && !line.includes('https:'))).toEqual([]);
});

test('refuses data that is named twice for serve', async () => {
  const { thrown } = await parse('serve', 'a.snapshot', '--data', 'b.snapshot');
  expect(String(thrown)).toContain('a.snapshot: the data is also named by --data');
});

test('takes the data of serve as an argument', async () => {
  const { out } = await parse('serve', 'data/sample', '--check');
  expect(out).toMatch(/^data +data\/sample +flag --data$/m);
});

test.each(['serve', 'explain'])('shows for %s every setting', async (command) => {
  const { out } = await parse(command, '--help');
  for (const setting of SETTINGS) expect(out).toContain(`\n  ${flagName(setting)}`);
});

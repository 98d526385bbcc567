// Keeps the documents true: every code block is run by a test that test/documents/plan.ts names, or excused there with
// a reason. This file runs the blocks that need only the embedded sample: the guide for client authors with its
// programs and its table of filters, and the requests of README.md.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../server/commands/commands.ts';
import { serveLine } from '../../server/commands/serveCommand.ts';
import { clientOf } from '../support/client.ts';
import { type Server, runServer } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasLibrary, hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { readProjectFile } from '../support/sources.ts';
import { type Block, blocksOf, blocksOfText, isPrinted, placeOfBlock, tableUnder } from './blocks.ts';
import { blocksLeft, blocksRunBy, documents, runners, staleRows } from './plan.ts';
import { misprintsOf, runBlocks } from './script.ts';

const GUIDE = 'server/catalogue/README.md';
const blocks = documents().flatMap(blocksOf);
const directory = temporaryDirectory();
let server: Server;
let port: string;

beforeAll(async () => {
  server = await runServer(['--data', await sampleSnapshot(), '--threads', '1']);
  ({ port } = new URL(server.url));
});
afterAll(() => server.stop());

/** Runs these blocks against the server of this test. Returns differences from the expected output. */
async function misprints(run: readonly Block[]): Promise<readonly string[]> {
  const home = mkdtempSync(join(directory, 'home-'));
  const replaced = { 'localhost:8080': `localhost:${port}` };
  return misprintsOf(await runBlocks(run, { directory: join(home, 'work'), home, replaced }));
}

describe('every code block of every document', () => {
  test('is run by a test, or excused with a reason', () => {
    expect(blocks.length).toBeGreaterThan(30);
    // Cure: a row in test/documents/plan.ts.
    expect(blocksLeft(blocks).map(placeOfBlock)).toEqual([]);
    expect(staleRows(blocks)).toEqual([]);
  });

  test('is reported if no row matches it', () => {
    const text = '# A\n\n- one:\n\n  ```sh\n  npx catalogue-replica new\n  ```\n';
    const [block] = blocksOfText('NEW.md', text);
    expect(block).toMatchObject({ line: 6, heading: 'A', language: 'sh', text: 'npx catalogue-replica new\n' });
    expect(blocksLeft([block!])).toEqual([block]);
  });

  test.each(runners())('is run by %s for %s', (path, document) => {
    const source = readProjectFile(path);
    expect(source).toContain('blocksRunBy(');
    expect(source).toContain(`'${document}'`);
    expect(blocksRunBy(path, document)).not.toEqual([]);
  });

  test('shows its output in one form: other code blocks after commands are files', () => {
    const shown = blocks.filter(({ language, file }) => file === undefined && /^(json|csv|http)$/.test(language));
    expect(shown.map(placeOfBlock)).toEqual([]);
  });
});

test('names only existing flags and scripts in documents', async () => {
  const optionsOf = (command: Command): readonly string[] => [
    ...command.options.map(({ long }) => long ?? ''),
    ...command.commands.flatMap(optionsOf),
  ];
  const benches = ['bench/bench.ts', 'test/campaign/campaign.ts'].map(readProjectFile).join('\n');
  const known = [
    '--help',
    '--no-',
    // Flags of npm.
    '--ignore-scripts',
    '--no-package-lock',
    '--omit',
    '--package-lock-only',
    '--prefix',
    // The flag of test/support/release.ts.
    '--repository',
    ...optionsOf(await commandLine(process)),
    ...optionsOf(serveLine(process)),
    ...[...benches.matchAll(/'(--[a-z-]+)/g)].map(([, flag]) => flag!),
  ];
  const { scripts } = JSON.parse(readProjectFile('package.json')) as { readonly scripts: object };
  // Only CHANGELOG.md may name what no longer exists.
  const named = documents()
    .filter((document) => document !== 'CHANGELOG.md')
    .flatMap((document) => {
      const spans = [...readProjectFile(document).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
      const flags = spans.flatMap((span) => span.match(/(?<!\S)--[a-z][a-z0-9-]*/g) ?? []);
      const wrong = flags.filter((flag) => !known.includes(flag) && !isFamily(flag, known));
      const runs = spans.flatMap((span) => /^npm run ([\w:]+)/.exec(span)?.[1] ?? []);
      return [...wrong, ...runs.filter((name) => !(name in scripts))].map((name) => `${document} names ${name}`);
    });
  expect(known.length).toBeGreaterThan(80);
  expect(named).toEqual([]);
});

/** Whether several flags have this prefix: `--allow` of `--allow-proxies` and similar ones. */
function isFamily(flag: string, known: readonly string[]): boolean {
  return known.filter((one) => one.startsWith(`${flag}-`)).length > 1;
}

test('compares the output except for omitted parts', () => {
  const text = { language: 'text', text: 'one ... three\n...\nfour' };
  for (const right of ['one two three\nfour\n', 'one  three\nx\ny\nfour']) expect(isPrinted(text, right)).toBe(true);
  for (const wrong of ['one two thre\nfour\n', 'one two three\nfour\nfive', 'one\ntwo three\nfour', '']) {
    expect(isPrinted(text, wrong)).toBe(false);
  }
  const json = { language: 'json', text: '{"a": [1, "x..."], "b": null}' };
  expect(isPrinted(json, '{"a":[1,"xyz"],"b":null}')).toBe(true);
  for (const wrong of [
    '{"a":[1,"yx"],"b":null}',
    '{"a":[1,"xy",2],"b":null}',
    '{"b":null,"a":[1,"x"]}',
    '{"a":',
    '[]',
  ]) {
    expect(isPrinted(json, wrong)).toBe(false);
  }
});

test('reports a block with an unexpected exit code or output', async () => {
  const shown = '```sh\ntrue; (exit 3); echo done\n```\n\n```text\ndon\n```\n';
  await expect(misprints(blocksOfText('A.md', shown))).rejects.toThrow(/^A\.md:2 true; .*: ended with 3:\ndone\n/);
  expect(await misprints(blocksOfText('A.md', shown.replace('sh\n', 'sh exits 3\n')))).toEqual([
    expect.stringMatching(/^A\.md:2 true.*\nsays\ndon\nand prints\ndone\n/),
  ]);
});

test('requires no output of a block without an output block', async () => {
  const [silent, spoken] = ['```sh\ntrue\n```\n', '```sh\necho done\n```\n'].map((text) => blocksOfText('A.md', text));
  expect(await misprints(silent!)).toEqual([]);
  expect(await misprints(spoken!)).toEqual([expect.stringMatching(/^A\.md:2 echo done\nsays\n\nand prints\ndone\n/)]);
});

test('has only commands, programs and its table of filters in the guide for client authors', () => {
  const languages = blocksRunBy('test/documents/documents.test.ts', GUIDE).map(({ language }) => language);
  expect(languages.filter((language) => language !== 'sh')).toEqual(['python', 'r', 'js']);
  expect(tableUnder(GUIDE, 'Filters by example').length).toBeGreaterThan(10);
});

describe.skipIf(!hasProgram('curl'))('curl', () => {
  test('prints the output in the guide for client authors', async () => {
    const asked = blocksRunBy('test/documents/documents.test.ts', GUIDE).filter(({ language }) => language === 'sh');
    expect(await misprints(asked)).toEqual([]);
  });

  test('prints the output in README.md', async () => {
    const asked = blocksOf('README.md').filter(({ text }) => text.startsWith('curl'));
    expect(asked.length).toBe(1);
    expect(await misprints(asked)).toEqual([]);
  });
});

describe.each([
  ['python', hasProgram('python3') && hasLibrary('python3-pandas') && hasLibrary('python3-requests')],
  ['r', hasProgram('Rscript') && hasLibrary('r-cran-jsonlite')],
  ['js', true],
])('the program in %s of the guide', (wanted, isInstalled) => {
  const program = blocksRunBy('test/documents/documents.test.ts', GUIDE).filter(({ language }) => language === wanted);

  test('exists, with its output', () => {
    expect(program.map(({ printed }) => printed.text !== '')).toEqual([true]);
  });
  test.skipIf(!isInstalled)('prints that output', async () => {
    expect(await misprints(program)).toEqual([]);
  });
});

test.each(tableUnder(GUIDE, 'Filters by example'))(
  'filters as the guide says: %s (%s) finds %s',
  async (_, query, count) => {
    const client = clientOf(server.url);
    const target = encodeURI(`/api/v3/observations/?${query.replaceAll('`', '')}&limit=1&strict=1`);
    const { status, headers } = await client.get(target);
    client.close();
    expect([status, headers['x-total-count']]).toEqual([200, count]);
  },
);

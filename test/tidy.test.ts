// Style as a test: every rule a machine can judge, over all files of the project, each with file, line and cure. Every
// rule is also shown a made-up source that breaks it, since a rule that never bites looks just like a tidy project.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { LOOKUPS } from '../engine/query/lookups.ts';
import { GROUPS, sectionName, type SectionKind } from '../engine/snapshot/sections.ts';
import { fieldsText } from '../server/commands/fields.ts';
import { LIBRARIES, PROGRAMS } from './support/debian.ts';
import { parametersTable, settingsTable } from './support/documentTables.ts';
import { projectFiles, readProjectFile, ROOT, sourceOf, type Source } from './support/sources.ts';
import * as rules from './support/tidyRules.ts';

const FILES = projectFiles();
const TOP_LEVEL = new Set(
  [
    'engine data workers server bench test deploy .ci package.json package-lock.json tsconfig.json .gitignore',
    'README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE',
  ].flatMap((names) => names.split(' ')),
);

/** Written by flatc or another tool, as the header of each says. */
const GENERATED: readonly string[] = [];

const SOURCES: readonly Source[] = FILES.filter((path) => /\.(ts|js)$/.test(path) && !GENERATED.includes(path)).map(
  (path) => sourceOf(path, readProjectFile(path)),
);

/** What is started by its path: commands, threads, tests, and what tests load into other processes. */
const STARTED = [
  'server/launch.js',
  'server/browse/assets/browse.js',
  'server/commands/cli.ts',
  'bench/bench.ts',
  'test/campaign/campaign.ts',
  'bench/peers/programs/',
  'data/synth/sample.ts',
  'test/support/defects/',
  'test/documents/duckDb.ts',
  'test/support/allocations.ts',
  'test/support/writeForm.ts',
  'test/support/writeKernel.ts',
  'test/support/writePackage.ts',
  'test/support/screenshots.ts',
  ...FILES.filter((path) => /\.(test|config|d)\.ts$/.test(path)),
];

/** Rule by rule: the sentence that is true, and lines of code that would make it false, with the file they stand in. */
const RULES: readonly [sentence: string, rule: rules.Rule, wrong: readonly [path: string, text: string][]][] = [
  [
    'imports follow the arrows',
    rules.importsFollowTheArrows,
    [
      ['engine/bits/a.ts', "import '../find/plan.ts';"],
      ['engine/page/a.ts', "export type { Plan } from '../find/plan.ts';"],
      ['data/a.ts', "await import('../workers/pool.ts');"],
      ['server/http/a.ts', "import { app } from './uws/transport.ts';"],
      ['server/process/a.ts', "new Worker(new URL('../commands/cli.ts', import.meta.url));"],
      ['server/process/serve.ts', "import { port } from '../../test/support/server.ts';"],
    ],
  ],
  ['no imports make a circle', rules.importsMakeNoCircle, [['data/a.ts', "import './a.ts';"]]],
  [
    'environment, clock, randomness, fetch, uWebSockets.js and console stay in the files of RIM',
    rules.rimStaysAtTheRim,
    [
      ['server/a.ts', 'const port = process.env.PORT;'],
      ['data/a.ts', 'const now = Date.now();'],
      ['data/a.ts', 'const now = performance.now();'],
      ['workers/a.ts', 'const draw = Math.random();'],
      ['server/a.ts', 'const answer = await fetch(url);'],
      ['data/crawl/a.ts', "import { request } from 'undici';"],
      ['server/a.ts', "import uws from 'uWebSockets.js';"],
      ['server/a.ts', 'console.log(1);'],
    ],
  ],
  ['the engine knows no module of Node', rules.engineIsPure, [['engine/bits/a.ts', "import 'node:fs';"]]],
  [
    'every file opens with a header of 2 to 5 lines',
    rules.headersAreThere,
    [
      ['data/a.ts', '// One line.\nlet a;'],
      ['data/a.ts', '// Line.\n'.repeat(6)],
      ['test/a.test.ts', 'let a;'],
    ],
  ],
  [
    'no header says who calls the file',
    rules.headersNameNoCallers,
    [
      ['data/a.ts', '// Reads it.\n// Pure; called by build.ts and others.\nlet a;'],
      ['data/a.ts', '// It.\n// Plain data. Written by\n// build.ts.\nlet a;'],
    ],
  ],
  ['no comment is wider than code may be', rules.commentsAreNarrow, [['data/a.ts', `let a; // ${'x'.repeat(112)}`]]],
  [
    'paths and files that comments cite exist',
    rules.citationsExist(FILES),
    [
      ['data/a.ts', '// As engine/none/none.ts has it.'],
      ['data/a.ts', '/** See none.ts. */'],
    ],
  ],
  ['every file is imported or started', rules.filesAreImported(STARTED), [['data/a.ts', 'let a;']]],
  ['every export has a docstring', rules.exportsAreDocumented, [['data/a.ts', '// A comment.\nexport const a = 1;']]],
  ['a name that is exported means one thing', rules.namesMeanOneThing, []],
  [
    'what is exported is called by a noun',
    rules.exportsAreNouns,
    [
      ['data/a.ts', 'export interface Resolved {'],
      ['data/a.ts', "export const KEPT = 'kept';"],
    ],
  ],
  ['no export is a default export', rules.exportsAreNamed, [['data/a.ts', 'export default 1;']]],
  [
    'no collection is named outside its declaration',
    rules.collectionsAreNamedOnce,
    [
      ['data/a.ts', "read('platforms');"],
      ['server/a.ts', "get('/api/v3/ipps/');"],
    ],
  ],
  [
    'no section of a snapshot is named outside its declaration',
    rules.sectionsAreNamedOnce,
    [
      ['data/a.ts', 'sections.get(`${path}.codes`);'],
      ['engine/index/a.ts', "const name = 'notes/text.text';"],
      ['server/a.ts', "sectionsOf(loaded).bytes('metadata');"],
      ['data/a.ts', "const section = (part) => [path, part].join('.'); section('postingStarts');"],
      ['data/a.ts', 'const path = `${name}/records/${i}`;'],
      ['engine/snapshot/a.ts', 'const LINKS = /\\.links$/;'],
    ],
  ],
  [
    'nothing is left for later and no test runs alone',
    rules.nothingIsLeftOver,
    [
      ['data/a.ts', `// ${'TO'}${'DO'}: more`],
      ['test/a.test.ts', `test${'.only'}('x', f);`],
    ],
  ],
  ['no file is longer than 400 lines', rules.filesAreShort, [['data/a.ts', 'x\n'.repeat(401)]]],
];

test('files that import one another are reported once, by type or import() too', () => {
  const sources = [
    sourceOf('data/a.ts', "import type { B } from './b.ts';"),
    sourceOf('data/b.ts', "await import('./c.ts');"),
    sourceOf('data/c.ts', "export { a } from './a.ts';"),
    sourceOf('data/d.ts', "import { a } from './a.ts';"),
  ];
  expect(rules.importsMakeNoCircle(sources)).toEqual([
    expect.stringMatching(/^data\/a\.ts:1 .* way of data\/b\.ts, data\/c\.ts;/),
  ]);
});

test('a name that two files export is reported', () => {
  const sources = ['data/a.ts', 'engine/a.ts', 'test/a.ts'].map((path) => sourceOf(path, 'export const a = 1;'));
  expect(rules.namesMeanOneThing(sources)).toEqual([expect.stringMatching(/^engine\/a\.ts:1 exports a, as data\/a/)]);
});

describe.each(RULES)('%s', (_sentence, rule, wrong) => {
  test('in the whole project', () => {
    expect(rule(SOURCES)).toEqual([]);
  });
  test.each(wrong)('else it is reported: in %s, %j', (path, text) => {
    expect(rule([sourceOf(path, text)])).toEqual([expect.stringMatching(`^${path}:[0-9]+ `)]);
  });
});

test('the top level holds what it is meant to hold, and nothing else', () => {
  const names = new Set(FILES.map((path) => path.split('/')[0] ?? ''));
  expect([...names].filter((name) => !TOP_LEVEL.has(name))).toEqual([]);
});

test('paths that documents cite exist', () => {
  const documents = FILES.filter((path) => path.endsWith('.md'));
  expect(rules.citationsExist(FILES)(documents.map((path) => sourceOf(path, readProjectFile(path))))).toEqual([]);
});

test.each([
  ['README.md', 200],
  ['ARCHITECTURE.md', 250],
])('%s is finished by who begins it: at most %i lines', (path, linesMax) => {
  // Cure: history belongs into commits, figures into bench/FIGURES.md, details beside what they are about.
  expect(readProjectFile(path).split('\n').length - 1).toBeLessThanOrEqual(linesMax);
});

test.each([
  ['server/settings/README.md', settingsTable],
  ['server/catalogue/README.md', parametersTable],
])('the table of %s is that of the declaration', (path, table) => {
  const bare = (line: string): string => line.replace(/ +/g, ' ').replace(/-+/g, '-');
  const readme = new Set(readProjectFile(path).split('\n').map(bare));
  const missing = table()
    .split('\n')
    .filter((line) => !readme.has(bare(line)));
  // Cure: put these lines into the table.
  expect(missing).toEqual([]);
});

test('engine/query/FILTERS.md is what the command `fields` prints of the declaration', () => {
  const bare = (text: string): readonly string[] =>
    text.split('\n').map((line) => line.replace(/ +/g, ' ').replace(/-+/g, '-'));
  // Cure: `npm run filters` writes it again.
  expect(bare(readProjectFile('engine/query/FILTERS.md').trimEnd())).toEqual(bare(fieldsText(undefined, 'markdown')));
});

test('the figures of concepts for speed in bench/FIGURES.md stand in their files', () => {
  const [, section = ''] = readProjectFile('bench/FIGURES.md').split('\n## Concepts for speed\n');
  const rows = [...section.split('\n## ')[0]!.matchAll(/^\|[^|]+\| `(?<path>[^`]+)` +\| (?<what>[^|]+)\|$/gm)];
  expect(rows.length).toBeGreaterThan(0);
  for (const { groups } of rows) {
    const text = readProjectFile(groups!['path']!);
    // Cure: the same figure in both, as it was measured last.
    for (const [figure] of groups!['what']!.matchAll(/\d+(?:,\d{3})*(?:\.\d+)?/g))
      expect(text, groups!['path']).toContain(figure);
  }
});

test('every lookup stands in the table of server/catalogue/README.md', () => {
  const rows = readProjectFile('server/catalogue/README.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const missing = LOOKUPS.filter(({ name }) => !rows.some((row) => row.split(' | ')[0]!.includes(`\`${name}\``)));
  // Cure: put these names into the table under "Lookups".
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('the tables of engine/snapshot/FORMAT.md are those of sections.ts, and what checks a section is there', () => {
  const rows = GROUPS.flatMap((group) =>
    Object.entries<SectionKind>(group.kinds).map(([key, { element, count, meaning }]) => {
      const name = `${group.path === '' ? '' : '.'}${sectionName(group, key, '')}`;
      const elements = [element === 'pieces' ? 'bytes' : element, count].filter((text) => text !== undefined);
      return `| \`${name}\` | ${elements.join(', ')} | ${meaning} | \`${group.check}\` |`;
    }),
  );
  const [, documented = ''] = readProjectFile('engine/snapshot/FORMAT.md').split('\n## Sections\n');
  const lines = documented.split('\n').filter((line) => line.startsWith('| `'));
  // Cure: put these lines into the tables, in this order.
  expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual(rows);
  const sources = SOURCES.filter(({ path }) => /^(?:engine\/snapshot|data\/store)\//.test(path)).map(
    ({ code }) => code,
  );
  for (const { check } of GROUPS) expect(sources.join('\n')).toContain(`${check}(`);
});

test('.ci/run installs the Debian packages of the programs and libraries that tests drive', () => {
  const [, packages] = /^DEBIAN_PACKAGES="(.*)"$/m.exec(readProjectFile('.ci/run')) ?? [];
  const wanted = new Set<string>([...Object.values(PROGRAMS), ...Object.keys(LIBRARIES)]);
  expect(packages?.split(' ').toSorted()).toEqual([...wanted].toSorted());
});

test('npm run lint judges by types: a promise that nobody awaits is reported', () => {
  const { scripts } = JSON.parse(readProjectFile('package.json')) as { readonly scripts: { readonly lint: string } };
  const [oxlint = ''] = scripts.lint.split(' && ');
  expect(oxlint).toMatch(/^oxlint /);
  const file = join(inject('runDirectory'), 'promise.ts');
  writeFileSync(file, 'async function later(): Promise<void> {}\nlater();\n');
  const command = ['node_modules/oxlint/bin/oxlint', ...oxlint.split(' ').slice(1), '--format=unix', file];
  const { status, stdout } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, expect.stringContaining(`${file}:2:1: Promises must be awaited`)]);
});

test('package.json, the launcher and README.md agree on the Node of the machine and on the one that runs the program', () => {
  const { engines, optionalDependencies } = JSON.parse(readProjectFile('package.json')) as {
    readonly engines: { readonly node: string };
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  // The machine's Node only runs the launcher, which starts the one that is installed beside it.
  expect(engines.node).toBe('>=18');
  expect(readProjectFile('README.md')).toContain('Node 18 or newer');
  expect(readProjectFile('server/launch.js')).toContain('any Node from 18 on');
  expect(readProjectFile('server/launch.js')).toContain('major === 22 && minor >= 18');
  expect(readProjectFile('server/launch.js')).toContain("startsWith('24.')");
  for (const version of Object.values(optionalDependencies)) expect(version).toMatch(/^22\.(1[89]|[2-9]\d)\.\d+$/);
});

test('package-lock.json has the optional packages of every platform, and no address of a registry', () => {
  interface Entry {
    readonly resolved?: string;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  const lock = JSON.parse(readProjectFile('package-lock.json')) as { packages: Readonly<Record<string, Entry>> };
  const entries = Object.entries(lock.packages);
  // `npm install` leaves out what its registry does not have, and `npm ci` then refuses the lock on every platform.
  // Cure: an entry with version, os, cpu and "optional": true for each.
  const missing = entries.flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
    ),
  );
  expect(missing).toEqual([]);
  expect(entries.filter(([, { resolved }]) => resolved?.includes(':'))).toEqual([]);
});

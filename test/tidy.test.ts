// Style as a test: every rule that a machine can check, over all files of the project, each with file, line and cure.
// Every rule is also applied to a made-up source that violates it, because a rule that never fails looks just like a
// tidy project.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { LOOKUPS } from '../engine/query/lookups.ts';
import { GROUPS, type SectionKind } from '../engine/snapshot/sections.ts';
import { temporaryDirectory } from './support/dataSets.ts';
import { LIBRARIES, PROGRAMS } from './support/debian.ts';
import { generatedDocuments, unaligned } from './support/documentTables.ts';
import { dialectPlaces, readCeilings } from './support/plainWords.ts';
import { projectFiles, readProjectFile, ROOT, type Source, sourceOf } from './support/sources.ts';
import * as rules from './support/tidyRules.ts';

const FILES = projectFiles();
const TOP_LEVEL = new Set(
  [
    'engine data workers server bench test deploy .ci .github package.json package-lock.json tsconfig.json .gitignore',
    'README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE NOTICE',
  ].flatMap((names) => names.split(' ')),
);

const SOURCES: readonly Source[] = FILES.filter((path) => /\.(ts|js)$/.test(path)).map((path) =>
  sourceOf(path, readProjectFile(path)),
);

const { dependencies: DEPENDENCIES } = JSON.parse(readProjectFile('package.json')) as { readonly dependencies: object };

/** For each rule: the sentence that must be true, and lines of code that violate it, with the path of their file. */
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
      ['server/process/serve.ts', "import { port } from '../../test/support/client.ts';"],
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
      ['data/upstream/a.ts', "import { request } from 'undici';"],
      ['server/a.ts', "import uws from 'uWebSockets.js';"],
      ['server/a.ts', 'console.log(1);'],
    ],
  ],
  ['the engine knows no module of Node', rules.engineIsPure, [['engine/bits/a.ts', "import 'node:fs';"]]],
  [
    'product code imports only dependencies',
    rules.productImportsOnly(Object.keys(DEPENDENCIES)),
    [
      ['engine/a.ts', "import { parse } from 'yaml';"],
      ['server/a.ts', "await import('@redocly/openapi-core/lib/index.js');"],
    ],
  ],
  [
    'paths and files that comments cite exist',
    rules.citationsExist(FILES),
    [
      ['data/a.ts', '// As engine/none/none.ts has it.'],
      ['data/a.ts', '/** See none.ts. */'],
    ],
  ],
];

test('reports files that import one another once, also by type or import()', () => {
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

describe.each(RULES)('%s', (_sentence, rule, wrong) => {
  test('in the whole project', () => {
    expect(rule(SOURCES)).toEqual([]);
  });
  test.each(wrong)('or is reported: in %s, %j', (path, text) => {
    expect(rule([sourceOf(path, text)])).toEqual([expect.stringMatching(`^${path}:[0-9]+ `)]);
  });
});

test('has only the intended files at the top level', () => {
  const names = new Set(FILES.map((path) => path.split('/')[0] ?? ''));
  expect([...names].filter((name) => !TOP_LEVEL.has(name))).toEqual([]);
});

test('counts only files that git tracks as files of the project', () => {
  const directory = temporaryDirectory();
  for (const name of ['tracked.ts', 'notes.md']) writeFileSync(join(directory, name), '');
  execFileSync('git', ['init', '--quiet'], { cwd: directory });
  execFileSync('git', ['add', 'tracked.ts'], { cwd: directory });
  expect(projectFiles(directory)).toEqual(['tracked.ts']);
});

test('cites only existing paths in documents', () => {
  const documents = FILES.filter((path) => path.endsWith('.md'));
  expect(rules.citationsExist(FILES)(documents.map((path) => sourceOf(path, readProjectFile(path))))).toEqual([]);
});

test.each(generatedDocuments())('%s: has what `npm run generate` writes', (path, text) => {
  expect(unaligned(readProjectFile(path))).toBe(unaligned(text));
});

test.each(['code', 'documents'] as const)('does not add markers of the old dialect to %s', (kind) => {
  const places = dialectPlaces(FILES)[kind];
  const ceiling = readCeilings()[kind];
  // Cure: write plain English (subject, verb, object). `npm run generate` lowers a ceiling that has room.
  expect(places.length, places.length > ceiling ? places.join('\n') : '').toBeLessThanOrEqual(ceiling);
});

test('has the figures of concepts for speed in bench/FIGURES.md in their files', () => {
  const [, section = ''] = readProjectFile('bench/FIGURES.md').split('\n## Concepts for speed\n');
  const rows = [...section.split('\n## ')[0]!.matchAll(/^\|[^|]+\| `(?<path>[^`]+)` +\| (?<what>[^|]+)\|$/gm)];
  expect(rows.length).toBeGreaterThan(0);
  for (const { groups } of rows) {
    const text = readProjectFile(groups!['path']!);
    // Cure: the same figure in both, as measured last.
    for (const [figure] of groups!['what']!.matchAll(/\d+(?:,\d{3})*(?:\.\d+)?/g))
      expect(text, groups!['path']).toContain(figure);
  }
});

test('has every lookup in the table of server/catalogue/README.md', () => {
  const rows = readProjectFile('server/catalogue/README.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const missing = LOOKUPS.filter(({ name }) => !rows.some((row) => row.split(' | ')[0]!.includes(`\`${name}\``)));
  // Cure: put these names into the table under "Lookups".
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('has every section in FORMAT.md', () => {
  // Each group has a chapter, or `npm run generate` would omit its sections.
  const rows = readProjectFile('engine/snapshot/FORMAT.md');
  for (const { kinds } of GROUPS)
    for (const { meaning } of Object.values<SectionKind>(kinds)) expect(rows).toContain(meaning);
});

test('installs in .ci/run the Debian packages of the programs and libraries that tests drive', () => {
  const [, packages] = /^DEBIAN_PACKAGES="(.*)"$/m.exec(readProjectFile('.ci/run')) ?? [];
  const wanted = new Set<string>([...Object.values(PROGRAMS), ...Object.keys(LIBRARIES)]);
  expect(packages?.split(' ').toSorted()).toEqual([...wanted].toSorted());
});

test('lints by types with npm run lint: reports a promise that is not awaited', () => {
  const { scripts } = JSON.parse(readProjectFile('package.json')) as { readonly scripts: { readonly lint: string } };
  const [oxlint = ''] = scripts.lint.split(' && ');
  expect(oxlint).toMatch(/^oxlint /);
  const file = join(inject('runDirectory'), 'promise.ts');
  writeFileSync(file, 'async function later(): Promise<void> {}\nlater();\n');
  const command = ['node_modules/oxlint/bin/oxlint', ...oxlint.split(' ').slice(1), '--format=unix', file];
  const { status, stdout } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, expect.stringContaining(`${file}:2:1: Promises must be awaited`)]);
});

test('names the same Node versions in package.json, the launcher and README.md', () => {
  const { engines, optionalDependencies } = JSON.parse(readProjectFile('package.json')) as {
    readonly engines: { readonly node: string };
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  // The machine's Node only runs the launcher, which starts the one that is installed next to it.
  expect(engines.node).toBe('>=18');
  expect(readProjectFile('README.md')).toContain('Node 18 or newer');
  expect(readProjectFile('server/launch.js')).toContain('any Node from 18 on');
  expect(readProjectFile('server/launch.js')).toContain('major === 22 && minor >= 18');
  expect(readProjectFile('server/launch.js')).toContain('/^2[46]\\./');
  for (const version of Object.values(optionalDependencies)) expect(version).toMatch(/^\^22\.(?:1[89]|[2-9]\d)\.\d+$/);
});

test('has the optional packages of every platform in package-lock.json, and no address of a registry', () => {
  interface Entry {
    readonly resolved?: string;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  const lock = JSON.parse(readProjectFile('package-lock.json')) as { packages: Readonly<Record<string, Entry>> };
  const entries = Object.entries(lock.packages);
  // `npm install` omits packages that its registry lacks, and `npm ci` then refuses the lock on every platform. Cure:
  // an entry with version, os, cpu and "optional": true for each.
  const missing = entries.flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
    ),
  );
  expect(missing).toEqual([]);
  expect(entries.filter(([, { resolved }]) => resolved?.includes(':'))).toEqual([]);
});

// The files that `npm pack` puts into the package: the program as JavaScript, file for file, its data, and the files
// that its README links to. test/load/package.long.test.ts starts an installed package.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/dataSets.ts';
import { projectFiles, readProjectFile } from '../support/sources.ts';

// Without --silent, npm scripts print on stdout what they run.
const PACK = ['pack', '--dry-run', '--json', '--silent'];
const packed = JSON.parse(execFileSync('npm', PACK, { encoding: 'utf8' })) as Packed;
type Packed = [{ readonly files: readonly { readonly path: string; readonly mode: number }[] }];
const files = new Map(packed[0].files.map(({ path, mode }) => [path, mode]));
const modules = [...files.keys()].filter((path) => path.startsWith('dist/'));
const tracked = new Set(projectFiles());

test('packs every module as the JavaScript of one source of the program', () => {
  expect(modules.length).toBeGreaterThan(200);
  const sources = modules.map((path) => path.replace(/^dist\/(.*)\.js$/, '$1.ts'));
  expect(sources.filter((path) => !existsSync(path) || /^(test|bench)\//.test(path))).toEqual([]);
});

test('packs the entry modules of all threads', () => {
  const threads = [...tracked].filter(
    (path) =>
      /^(data|server|workers)\/.*\.ts$/.test(path) && /\b(?:parentPort|workerData)\b/.test(readProjectFile(path)),
  );
  expect(threads.length).toBeGreaterThan(4);
  expect(threads.filter((path) => !files.has(`dist/${path.replace(/ts$/, 'js')}`))).toEqual([]);
});

test('packs otherwise the launcher, the embedded sample, the files of pages, deployment files and documents', () => {
  const rest = [...files.keys()].filter((path) => !path.startsWith('dist/'));
  const whole = [...tracked].filter((path) => /^(?:data\/sample|deploy)\//.test(path));
  expect(rest.toSorted()).toEqual(
    [
      'ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE README.md package.json server/launch.js'.split(' '),
      [
        'engine/schema/ASSUMPTIONS.md',
        'engine/query/FILTERS.md',
        'engine/snapshot/FORMAT.md',
        'engine/snapshot/format.fbs',
      ],
      ['data/README.md', 'data/distribution/README.md'],
      ['server/observe/README.md', 'server/authority/README.md', 'server/settings/README.md', 'bench/FIGURES.md'],
      ['server/catalogue/README.md', 'server/catalogue/DJANGO.md', 'server/catalogue/EXPORTS.md'],
      [
        'server/pages/browse/assets/browse.css',
        'server/pages/browse/assets/browse.js',
        'server/pages/browse/assets/land.svg',
        'server/pages/browse/record.png',
      ],
      whole,
    ]
      .flat()
      .toSorted(),
  );
  // Executable by all users, as npm makes commands.
  expect(files.get('server/launch.js')! & 0o111).toBe(0o111);
});

test('packs what its documents link to', () => {
  const documents = [
    'README.md',
    'data/README.md',
    'data/distribution/README.md',
    'engine/query/FILTERS.md',
    'server/authority/README.md',
    'server/catalogue/README.md',
    'server/catalogue/DJANGO.md',
    'server/settings/README.md',
    'engine/snapshot/FORMAT.md',
  ];
  const targets = documents.flatMap((document) =>
    [...readProjectFile(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) =>
      posix.join(posix.dirname(document), target!),
    ),
  );
  expect(targets).not.toEqual([]);
  expect(targets.filter((target) => !files.has(target))).toEqual([]);
});

test('packs a module at the path of its source, without comments', () => {
  const paths = modules.filter((path) => /query\/regex|kernel\/\w+\.js|threads\/servingThread/.test(path));
  expect(paths.length).toBeGreaterThan(2);
  for (const path of paths) {
    const source = readProjectFile(path.replace(/^dist\/(.*)\.js$/, '$1.ts')).split('\n');
    const lines = readProjectFile(path).split('\n');
    expect(lines.length, path).toBe(source.length);
    expect(lines.filter((line) => /^\s*\/[/*]/.test(line))).toEqual([]);
    const from = source.map((line, index) => (/^const \w+ =/.test(line) ? index : -1)).filter((index) => index >= 0);
    for (const index of from) expect(lines[index], path).toMatch(/^const \w+ */);
  }
});

test('leaves out what an operator puts next to the deployment files: keys, certificates, data', () => {
  const directory = temporaryDirectory();
  cpSync('package.json', join(directory, 'package.json'));
  mkdirSync(join(directory, 'deploy/data/catalogue'), { recursive: true });
  const own = [
    'catalogue.pem',
    'site.key',
    'a.snapshot',
    'a.snapshot.1-2.blocks',
    'data/b',
    'data/catalogue/notes.ndjson',
  ];
  for (const name of [...own, 'compose.yaml']) writeFileSync(join(directory, 'deploy', name), 'x');
  const text = execFileSync('npm', [...PACK, '--ignore-scripts'], { cwd: directory, encoding: 'utf8' });
  const names = (JSON.parse(text) as Packed)[0].files.map(({ path }) => path);
  expect(names.filter((name) => name.startsWith('deploy/'))).toEqual(['deploy/compose.yaml']);
  const kept = readProjectFile('deploy/Dockerfile.dockerignore').split('\n');
  expect(kept).toEqual(expect.arrayContaining(['**/*.pem', '**/*.key', '**/*.snapshot*', 'deploy/data']));
});

test('lists in NOTICE the package of uWebSockets.js, its version, and the SHA-256 of each of its binaries for Node 22', () => {
  const notice = readProjectFile('NOTICE');
  const folder = 'node_modules/uWebSockets.js';
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Record<string, string>;
  expect(notice).toContain(`repackaged as ${name} ${version} `);
  const binaries = globSync(`${folder}/dist/bin/*_127.node`).toSorted();
  const sums = binaries.map((path) => {
    return `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${posix.basename(path)}`;
  });
  expect(sums).toHaveLength(6);
  expect(notice.match(/[0-9a-f]{64} .*/g)).toEqual(sums);
});

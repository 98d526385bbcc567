// The kept program: made by a thread of its own, used instead of stripping where it is of the file as it is now, else ignored.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/dataSets.ts';

const SERVER = fileURLToPath(new URL('../../../server/', import.meta.url));
const MODULE =
  'interface Shape {\n  readonly size: number;\n}\nexport function fail(shape: Shape): never {\n  throw new Error(`${shape.size}`);\n}\n';

/** A program of one module in a directory of its own, with the two files that keep it. */
let root: string;
const directory = temporaryDirectory();
let programs = 0;
beforeEach(() => {
  root = join(directory, `program-${programs++}`);
  for (const folder of ['data', 'engine/query', 'server', 'workers'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['keptProgram.js', 'keepProgram.js']) cpSync(join(SERVER, name), join(root, 'server', name));
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  writeFileSync(moduleFile(), MODULE);
});

const moduleFile = (): string => join(root, 'engine/query/shape.ts');
const keptFiles = (): readonly string[] => {
  const kept = join(root, 'node_modules/.cache/catalogue-replica/program');
  return readdirSync(kept).map((name) => join(kept, name));
};

function node(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...words], { cwd: root, encoding: 'utf8' });
}

const keep = (): ReturnType<typeof node> => node('--disable-warning=ExperimentalWarning', 'server/keepProgram.js');

/** Runs the module by way of the kept program, and answers the error it ends with. */
function failure(): string {
  const script = `import './server/keptProgram.js'; const { fail } = await import('./engine/query/shape.ts'); fail({ size: 7 });`;
  const { status, stderr } = node('--input-type=module', '--eval', script);
  expect(status).toBe(1);
  return stderr;
}

/** What the module would do as it is kept, so that it shows which of the two was read. */
function mark(text: string): void {
  const [file] = keptFiles();
  writeFileSync(file!, readFileSync(file!, 'utf8').replace('`${shape.size}`', JSON.stringify(text)));
}

describe('the kept program', () => {
  test('is read instead of the file, with the lines and columns of the file', () => {
    const stripped = failure();
    expect(stripped).toMatch(/^Error: 7\n +at fail \(.*\/engine\/query\/shape\.ts:5:9\)$/m);
    expect(keep()).toMatchObject({ status: 0, stderr: '' });
    expect(failure()).toContain(/^Error: 7\n.*$/m.exec(stripped)![0]);
    mark('kept');
    expect(failure()).toMatch(/^Error: kept$/m);
  });

  test('is one file a module, and nothing else is left beside it', () => {
    for (let times = 0; times < 2; times++) {
      keep();
      expect(keptFiles()).toHaveLength(1);
    }
  });

  test('is not read once the file has changed, and kept anew then', () => {
    keep();
    mark('kept');
    writeFileSync(moduleFile(), MODULE.replace('new Error', 'new TypeError'));
    expect(failure()).toMatch(/^TypeError: 7$/m);
    keep();
    mark('kept anew');
    expect(failure()).toMatch(/^TypeError: kept anew$/m);
    expect(keptFiles()).toHaveLength(1);
  });

  test('is not read where it was cut short at any place, or is of another Node', () => {
    keep();
    mark('kept');
    const [file] = keptFiles();
    const whole = readFileSync(file!);
    for (const bytes of [0, 1, whole.length >> 1, whole.length - 1]) {
      writeFileSync(file!, whole.subarray(0, bytes));
      expect(failure(), `${bytes} bytes`).toMatch(/^Error: 7$/m);
    }
    writeFileSync(file!, whole.toString().replace(process.versions.node, '22.0.0'));
    expect(failure()).toMatch(/^Error: 7$/m);
  });

  test('is not read in place of what another loader makes of the file', () => {
    keep();
    mark('kept');
    const planted = `
      import { registerHooks } from 'node:module';
      registerHooks({
        load(url, context, next) {
          const loaded = next(url, context);
          return url.endsWith('shape.ts') ? { ...loaded, source: String(loaded.source).replace('size}', 'size} planted') } : loaded;
        },
      });`;
    writeFileSync(join(root, 'planted.mjs'), planted);
    const script = `import './server/keptProgram.js'; const { fail } = await import('./engine/query/shape.ts'); fail({ size: 7 });`;
    expect(node('--import', './planted.mjs', '--input-type=module', '--eval', script).stderr).toMatch(
      /^Error: 7 planted$/m,
    );
  });

  // Root writes where nobody else may.
  test.skipIf(process.getuid?.() === 0)('is done without where nothing can be written', () => {
    chmodSync(root, 0o555);
    expect(keep().status).toBe(1);
    chmodSync(root, 0o755);
  });

  test('is done without where a file stands in place of its directory', () => {
    mkdirSync(join(root, 'node_modules'));
    writeFileSync(join(root, 'node_modules/.cache'), '');
    expect(keep().status).toBe(1);
    expect(failure()).toMatch(/^Error: 7$/m);
  });

  test('is made once the start is over, silently, by a process that goes on', () => {
    const hurried = join(root, 'hurried.mjs');
    writeFileSync(
      hurried,
      'const { setTimeout: later } = globalThis; globalThis.setTimeout = (task) => later(task, 0);',
    );
    const waiting = join(root, 'waiting.mjs');
    writeFileSync(
      waiting,
      `import { readdirSync } from 'node:fs';
       import { KEPT_DIRECTORY } from './server/keptProgram.js';
       const isKept = () => {
         try {
           return readdirSync(KEPT_DIRECTORY).some((name) => name.endsWith('.js'));
         } catch {
           return false;
         }
       };
       setInterval(() => isKept() && process.exit(0), 5);`,
    );
    expect(node('--import', hurried, waiting)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(keptFiles()).toHaveLength(1);
  });

  test('is not waited for by a process that is done', () => {
    const done = join(root, 'done.mjs');
    writeFileSync(done, `import './server/keptProgram.js';`);
    expect(node(done)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(() => keptFiles()).toThrow('ENOENT');
  });
});

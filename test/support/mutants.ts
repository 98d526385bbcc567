// `npm run mutants -- --seed 7 --count 100`: changes one operator, constant, condition or return of the product at a
// time and runs `npm test` on the result. It prints each mutant that no test catches, and the number of those caught.
// Some survivors are equivalent to the original. It works in a worktree of HEAD; the checkout stays as it is.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomOf, RUN_SEED } from './random.ts';
import { placeOf, projectFiles, readProjectFile, ROOT, type Source, sourceOf } from './sources.ts';

interface Mutant {
  readonly source: Source;
  readonly start: number;
  readonly before: string;
  readonly after: string;
}

const OTHER_OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  true: 'false',
  false: 'true',
};
/** Binary operators have blanks around them, type parameters have none. */
const SITES = [
  /(?<= )(?:===|!==|<=|>=|<|>|&&|\|\||[-+*/])(?= )/g,
  /(?<![\w.'])(?:true|false)(?!\w)/g,
  /(?<![\w.$])\d+(?![\w.])/g,
  /(?<=\bif \()[^()\n]+(?=\) )/g,
  /(?<=\breturn )[^;\n]+(?=;)/g,
];
const STRING = /'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
/** Lines without work at run time. */
const TYPE_LINE = /^(?:import|export type|type|interface|\s*readonly|\s*\|)\b/;
const PRODUCT = /^(?:engine|data|workers|server)\/.*(?<!\.d)\.ts$/;
/** Compiled bytes: tests compare their sources with a reference implementation. */
const COMPILED = ['engine/kernel/bytes.ts', 'data/blocks/encoderBytes.ts'];
/** Several times a whole run. A mutant that hangs counts as caught. */
const RUN_MS_MAX = 900_000;

function changed(site: string, rule: number): string {
  if (rule === 2) return String(Number(site) + 1);
  if (rule === 3) return `!(${site})`;
  return rule === 4 ? 'undefined' : OTHER_OPERATORS[site]!;
}

function mutantsOf(path: string): readonly Mutant[] {
  const source = sourceOf(path, readProjectFile(path));
  const code = source.code.replace(STRING, (text) => text.replace(/[^\n]/g, ' '));
  return SITES.flatMap((site, rule) =>
    [...code.matchAll(site)]
      .filter(({ index }) => !TYPE_LINE.test(code.slice(code.lastIndexOf('\n', index) + 1)))
      .map(({ index: start, 0: { length } }) => {
        const before = source.text.slice(start, start + length);
        return { source, start, before, after: changed(before, rule) };
      }),
  );
}

/** Whether vitest with these arguments fails in a directory, or does not finish in time. */
function fails(directory: string, words: readonly string[]): Promise<boolean> {
  const flags = ['--config', 'test/vitest.config.ts', '--bail', '1', '--silent'];
  const program = join(directory, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [program, ...words, ...flags], {
    cwd: directory,
    detached: true,
    stdio: 'ignore',
  });
  // Kills the process group, because tests start processes.
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), RUN_MS_MAX);
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code !== 0);
    });
  });
}

const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string', default: '100' } } });
const seed = Number(values.seed ?? RUN_SEED);
const paths = projectFiles().filter((path) => PRODUCT.test(path) && !COMPILED.includes(path));
const mutants = randomOf(seed).shuffled(paths.flatMap(mutantsOf)).slice(0, Number(values.count));
const directory = join(mkdtempSync(join(tmpdir(), 'mutants-')), 'project');
const git = (...words: readonly string[]): void => void execFileSync('git', ['-C', ROOT, 'worktree', ...words]);
git('add', '--quiet', '--detach', directory);
try {
  execFileSync('cp', ['--archive', '--link', join(ROOT, 'node_modules'), directory]);
  // Reports are written there: a link would change those of the checkout.
  rmSync(join(directory, 'node_modules/.cache'), { recursive: true, force: true });
  symlinkSync(join(ROOT, '../shared'), join(directory, '../shared'));
  if (await fails(directory, ['run'])) throw new Error('the tests fail without a mutant');
  let caught = 0;
  for (const [i, { source, start, before, after }] of mutants.entries()) {
    const file = join(directory, source.path);
    writeFileSync(file, source.text.slice(0, start) + after + source.text.slice(start + before.length));
    // Runs the tests that import the file first: most mutants fail there, in a few seconds.
    const isCaught = (await fails(directory, ['related', '--run', source.path])) || (await fails(directory, ['run']));
    writeFileSync(file, source.text);
    if (isCaught) caught++;
    else process.stdout.write(`survived: ${placeOf(source, start)} ${before} -> ${after}\n`);
    process.stderr.write(`${caught} of ${i + 1} caught\n`);
  }
  process.stdout.write(`seed ${seed}: ${caught} of ${mutants.length} caught\n`);
} finally {
  git('remove', '--force', directory);
  rmSync(join(directory, '..'), { recursive: true, force: true });
}

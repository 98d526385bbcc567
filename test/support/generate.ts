import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { generatedDocuments } from './documentTables.ts';
import { loweredCeilings } from './plainWords.ts';
import { projectFiles, readProjectFile, ROOT } from './sources.ts';

const WIDTH = 120;

/** Wraps each run of line comments and each docstring that is wider than `WIDTH`. */
function withNarrowComments(source: string): string {
  const isWide = (block: string): boolean => block.split('\n').some((line) => line.length > WIDTH);
  const lineComments = source.replace(/(?:^[ \t]*\/\/ .*\n)+/gm, (block) => {
    if (!isWide(block)) return block;
    const start = /^[ \t]*\/\/ /.exec(block)![0];
    return filled(block.replace(/^[ \t]*\/\/ /gm, ''), start)
      .map((line) => `${line}\n`)
      .join('');
  });
  return lineComments.replace(/^([ \t]*)\/\*\*[^]*?\*\//gm, (block, indent: string) => {
    if (!isWide(block)) return block;
    const text = block.replace(/^[ \t]*(?:\/?\*+(?!\/) ?)?|\*\/$/gm, '');
    return [`${indent}/**`, ...filled(text, `${indent} * `), `${indent} */`].join('\n');
  });
}

/** Fills lines of at most `WIDTH` with the words of a text. Each line begins with `start`. */
function filled(text: string, start: string): readonly string[] {
  const lines = [start.trimEnd()];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`${start}${word}`);
  }
  return lines;
}

const files = projectFiles();
const written = [
  ...generatedDocuments(),
  ...files
    .filter((path) => /\.(?:ts|js)$/.test(path))
    .map((path) => [path, withNarrowComments(readProjectFile(path))] as const),
].filter(([path, text]) => text !== readProjectFile(path));
for (const [path, text] of written) writeFileSync(ROOT + path, text);
writeFileSync(`${ROOT}test/support/plainWords.json`, loweredCeilings(files));
const paths = written.map(([path]) => path).filter((path) => !path.endsWith('.svg'));
execFileSync(
  'node_modules/.bin/prettier',
  ['--write', '--log-level', 'warn', 'test/support/plainWords.json', ...paths],
  {
    cwd: ROOT,
  },
);

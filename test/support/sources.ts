import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the project, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A source file. `path` is relative to the root, with forward slashes; `code` is `text` with every comment blanked out,
 * line breaks and positions kept.
 */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly code: string;
}

/** The paths, relative to the root, of all files that git tracks. A new file counts after `git add`. */
export function projectFiles(root = ROOT): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  // Git also lists a tracked file that is deleted.
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path))).toSorted();
}

export function readProjectFile(path: string): string {
  return readFileSync(ROOT + path, 'utf8');
}

/** A source from its text. Tests of a rule pass made-up texts. */
export function sourceOf(path: string, text: string): Source {
  return { path, text, code: blankComments(text) };
}

const STRING_OR_COMMENT = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;

// Strings are matched so that `//` inside one starts no comment. A regular expression with a quote in it can hide the
// rest of its line from the rules.
function blankComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, (token) => (token.startsWith('/') ? token.replace(/[^\n]/g, ' ') : token));
}

/** `path:line` of a position in a source, which terminals make clickable. */
export function placeOf(source: Source, index: number): string {
  return `${source.path}:${source.text.slice(0, index).split('\n').length}`;
}

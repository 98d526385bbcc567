// The code blocks of the project's documents, for the tests that run them: the text of each block, the expected output
// of its commands, and the comparison with the real output. Only reads documents; test/documents/script.ts runs
// commands.
import { lexer, type Token, type Tokens } from 'marked';
import { readProjectFile } from '../support/sources.ts';

/**
 * A code block. `line` is that of its first line in the document, from 1; `heading` is the nearest one above it.
 * `exits` is its exit code: `exits 1` after the language means another one than 0. `printed` is the text of the output
 * block directly after a block of commands, empty without one. `file` is set if the first line is a comment with only a
 * file name: the block is the content of that file.
 */
export interface Block {
  readonly document: string;
  readonly line: number;
  readonly heading: string;
  readonly language: string;
  readonly exits: number;
  readonly text: string;
  readonly printed: Printed;
  readonly file: string | undefined;
}

/** The expected output of commands. */
export interface Printed {
  readonly language: string;
  readonly text: string;
}

/** The languages of blocks that are run. */
const RUN = new Set(['sh', 'python', 'r', 'js', 'sql']);
/** The languages of output blocks, directly after such a block. */
const PRINTED = new Set(['text', 'json', 'csv', 'http']);
const NOTHING: Printed = { language: 'text', text: '' };
const FILE_NAME = /^(?:#|<!--) ([\w.-]+)(?: -->)?\n/;

/** All code blocks of a document, in order; an output block is a member of its commands, not a separate block. */
export function blocksOf(document: string): readonly Block[] {
  return blocksOfText(document, readProjectFile(document));
}

/** The same for a text that is not in a file. */
export function blocksOfText(document: string, text: string): readonly Block[] {
  const found: Block[] = [];
  let heading = '';
  let end = 0;
  const note = (code: Tokens.Code, printed: Tokens.Code | undefined): void => {
    const start = text.indexOf(code.text.split('\n', 1)[0]!, end);
    const [language = '', ...words] = (code.lang ?? '').split(' ');
    found.push({
      document,
      line: text.slice(0, start).split('\n').length,
      heading,
      language,
      exits: words[0] === 'exits' ? Number(words[1]) : 0,
      text: `${code.text}\n`,
      printed: printed ? { language: printed.lang!, text: printed.text } : NOTHING,
      file: FILE_NAME.exec(code.text)?.[1],
    });
    end = start + code.text.length;
  };
  const visit = (tokens: readonly Token[]): void => {
    const shown = tokens.filter(({ type }) => type !== 'space');
    for (const [i, token] of shown.entries()) {
      if (isCode(token)) {
        if (!isPrintedBy(shown[i - 1], token)) note(token, outputOf(token, shown[i + 1]));
      } else if (token.type === 'heading') heading = (token as Tokens.Heading).text;
      else if (token.type === 'list') for (const one of (token as Tokens.List).items) visit(one.tokens);
      else if ('tokens' in token && token.type === 'blockquote') visit(token.tokens ?? []);
    }
  };
  visit(lexer(text));
  return found;
}

function isCode(token: Token | undefined): token is Tokens.Code {
  return token?.type === 'code';
}

function outputOf(code: Tokens.Code, next: Token | undefined): Tokens.Code | undefined {
  return isPrintedBy(code, next) ? (next as Tokens.Code) : undefined;
}

/** Whether a token is the output block of the block before it. */
function isPrintedBy(before: Token | undefined, token: Token | undefined): boolean {
  if (!isCode(before) || !isCode(token)) return false;
  const isFile = FILE_NAME.test(token.text);
  return RUN.has((before.lang ?? '').split(' ')[0]!) && PRINTED.has(token.lang ?? '') && !isFile;
}

/**
 * The rows of the table under a heading of a document, without the first two lines: cells without surrounding blanks.
 */
export function tableUnder(document: string, heading: string): readonly (readonly string[])[] {
  const tokens = lexer(readProjectFile(document));
  const start = tokens.findIndex((token) => token.type === 'heading' && (token as Tokens.Heading).text === heading);
  const table = tokens.slice(start + 1).find(({ type }) => type === 'table') as Tokens.Table | undefined;
  return (start < 0 ? undefined : table)?.rows.map((cells) => cells.map(({ text }) => text)) ?? [];
}

/** The place of a block, in a form that terminals make clickable, and its first line. */
export function placeOfBlock({ document, line, text }: Block): string {
  return `${document}:${line} ${text.split('\n', 1)[0]}`;
}

/**
 * Whether a text equals the expected output: in the same lines, except that `...` matches any text, and alone on a line
 * any lines. JSON is compared by value; in it a text with `...` matches any similar text, and `"..."` numbers too.
 */
export function isPrinted(said: Printed, text: string): boolean {
  if (said.language !== 'json') return patternOf(said.text).test(linesOf(text));
  try {
    return isLike(JSON.parse(said.text), JSON.parse(text));
  } catch {
    return false;
  }
}

/** The lines with a newline each, without trailing blanks, which documents cannot show. */
function linesOf(text: string): string {
  return `${text.replaceAll(/[ \r]+$/gm, '').trimEnd()}\n`;
}

function patternOf(said: string): RegExp {
  const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const lines = linesOf(said).split('\n').slice(0, -1);
  const patterns = lines.map((line) =>
    line.trim() === '...' ? '(?:.*\\n)*' : `${line.split('...').map(literal).join('.*')}\\n`,
  );
  return new RegExp(`^${patterns.join('')}$`);
}

function isLike(said: unknown, value: unknown): boolean {
  if (said === '...' && typeof value !== 'object') return true;
  if (typeof said === 'string') return typeof value === 'string' && patternOf(said).test(linesOf(value));
  if (typeof said !== 'object' || said === null) return said === value;
  if (typeof value !== 'object' || value === null || Array.isArray(said) !== Array.isArray(value)) return false;
  const [saidKeys, keys] = [Object.keys(said), Object.keys(value)];
  if (saidKeys.join('\n') !== keys.join('\n')) return false;
  return keys.every((key) => isLike((said as Named)[key], (value as Named)[key]));
}

type Named = Readonly<Record<string, unknown>>;

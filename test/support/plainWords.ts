// Counts the comments and paragraphs that are written in the project's old dialect. The counts have ceilings in
// plainWords.json that may only fall. A few hits are right English ("left behind"); the markers find no other bad
// prose.
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { readProjectFile } from './sources.ts';

const CEILINGS_FILE = fileURLToPath(new URL('./plainWords.json', import.meta.url));

/** Words and phrases of the dialect, each with its replacement. */
const MARKERS: readonly RegExp[] = [
  // Name the thing: start with a noun or a verb.
  /^(?:What|Whoever|Who|Behind|Those (?:who|that|of)|So (?:many|much|long|often|few)|One of th\w*|Of (?:a|the|those|each)|How (?:a|many))\b(?!.*\?$)/,
  // if, when
  /\bwhere (?:it|there|that|this|they|nobody|none|one) (?:is|are|has|have|does|do|can|was)\b/i,
  // reports, logs, is notified
  /\b(?:told|telling|tells? (?!clients))\b/i,
  // after, following
  /(?<!left |leaves? |lags? )\bbehind\b(?! (?:a|the|an|its|nginx|HAProxy|Varnish|proxies|load))/i,
  // next to, besides
  /\bbeside\b/i,
  // the role: client, operator, caller
  /\b(?:nobody|somebody|anybody|everybody|whoever|whichever)\b/i,
  // is, is in, is stored
  /\b(?:stands?|stood|standing)\b(?! (?:for|alone|out|up))/i,
  /\b(?:lies|lie|lay|lain)\b/i,
  // is not a, does not exist
  /\b(?:is|are|was|were|be) (?:none|no such)\b/i,
  // its, separate
  /\bof (?:its|their|our|a \w+'s) own\b/i,
  // this many, interval, timeout
  /\bso (?:many|much|long|often|few)\b(?! as\b| that\b)/i,
  // returns
  /[.;:] answers? (?:what|whether|how|the|it|a|undefined)\b/,
  /\b(?:says? so|(?:is|are|was) said)\b/i,
  /\b(?:anew|heeds?|heeded|hence|lest|kin|for want of|all the same|at hand)\b/i,
];

/** One number for comments in code and one for paragraphs in documents. */
export interface DialectCounts {
  readonly code: number;
  readonly documents: number;
}

/** The comments and paragraphs with a marker, as `path: text`. */
export function dialectPlaces(files: readonly string[]): Readonly<Record<keyof DialectCounts, readonly string[]>> {
  const places = { code: [] as string[], documents: [] as string[] };
  for (const path of files.filter((file) => /\.(?:ts|js|as|md)$/.test(file) && !/CHANGELOG|\.d\.ts$/.test(file))) {
    const isDocument = path.endsWith('.md');
    const texts = (isDocument ? paragraphsIn : commentsIn)(readProjectFile(path));
    const hits = texts.filter((text) => MARKERS.some((marker) => marker.test(text)));
    places[isDocument ? 'documents' : 'code'].push(...hits.map((text) => `${path}: ${text.slice(0, 160)}`));
  }
  return places;
}

export function readCeilings(): DialectCounts {
  return JSON.parse(readFileSync(CEILINGS_FILE, 'utf8')) as DialectCounts;
}

/** The ceilings of the file, lowered to the current counts. */
export function loweredCeilings(files: readonly string[]): string {
  const { code, documents } = dialectPlaces(files);
  const old = readCeilings();
  const lowered = { code: Math.min(code.length, old.code), documents: Math.min(documents.length, old.documents) };
  return `${JSON.stringify(lowered, undefined, 2)}\n`;
}

/** Runs of line comments, and block comments at the start of a line, as one text each. */
function commentsIn(source: string): readonly string[] {
  const blocks = source.match(/^[ \t]*\/\*[^]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm) ?? [];
  return blocks.map((block) =>
    block
      .replace(/^[ \t]*(?:\/\/|\/?\*+\/?)|\*+\/$/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/** Paragraphs, list points and table rows outside code blocks. */
function paragraphsIn(markdown: string): readonly string[] {
  const parts = markdown.replace(/^```[^]*?^```/gm, '').split(/\n\s*\n|\n(?=[-*|#] )/);
  return parts.map((part) =>
    part
      .replace(/\s+/g, ' ')
      .replace(/^ ?[-*#]+ /, '')
      .trim(),
  );
}

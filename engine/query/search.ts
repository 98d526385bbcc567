// `search`: words that a record must contain, and the order of the records that contain them. Source: A168.
import { foldMarks, foldText } from '../bits/fold.ts';
import type { CollectionIndex } from '../index/table.ts';
import { searchFields } from '../schema/search.ts';
import type { AnyOf, Condition } from './ask.ts';
import { WORDS_MAX } from './limits.ts';
import { locate } from './path.ts';
import { MESSAGES } from './problems.ts';
import type { Reading } from './readers.ts';

/**
 * The folded spellings of a word: as typed, then without an English plural ending. The last one is contained in all
 * others.
 */
type Word = readonly string[];

type Path = readonly string[];

/**
 * Reads words and phrases in double quotes. A record matches if each is contained in a search field, ignoring case and
 * accents. Without `ordering` or `after`, records with the words in their titles come first. If the collection has no
 * search field, the parameter has no effect. Cost: the length of the value.
 */
export function readSearch(reading: Reading, value: string, at: number): void {
  const collection = reading.collection!;
  const fields = searchFields(collection.declaration.name);
  const title = textPaths(collection, fields.title);
  const keywords = textPaths(collection, fields.keywords);
  const all = [...title, ...keywords, ...textPaths(collection, fields.others)];
  if (all.length === 0) return reading.ignoreParameter(at, MESSAGES.unknown);
  if (value.includes('\0')) return reading.refuse(at, [MESSAGES.nul]);
  const words = splitWords(value);
  if (words.length > WORDS_MAX) return reading.refuse(at, [MESSAGES.tooManyWords]);
  if (words.length === 0) return;
  for (const word of words) reading.anyOf.push(anyFieldHas(all, word, PART));
  if (['ordering', 'after'].some((name) => reading.placesOf(name).length > 0)) return;
  reading.page.ranking = {
    tiers: [
      words.map((word) => anyFieldHas(title, word, PART)),
      [words.flatMap((word) => anyFieldHas(title, word, PART))],
      [words.flatMap((word) => anyFieldHas(keywords, word, PART))],
    ],
    whole: words.map((word) => anyFieldHas(all, word, WHOLE)),
  };
}

function textPaths(collection: CollectionIndex, names: string): Path[] {
  return names.split(' ').flatMap((name) => {
    const names = name.split('__');
    const located = locate(collection, names);
    const isText = located?.length === names.length && located.index?.dictionary.type === 'text';
    return isText ? [located.path] : [];
  });
}

const WORD = /"([^"]*)"?|([^\s"]+)/g;

/** The distinct words and phrases of a text. */
export function splitWords(text: string): readonly Word[] {
  const words = new Map<string, Word>();
  for (const [, phrase, word] of text.matchAll(WORD)) {
    const folded = foldText(phrase ?? word!, foldMarks).trim();
    if (folded !== '') words.set(folded, spellings(folded));
  }
  return [...words.values()];
}

/** A plural ending is removed only if this many letters remain: `gas` and `has` are not plurals. */
const STEM_LETTERS_MIN = 3;

function spellings(word: string): Word {
  return [word, ...['s', 'es'].filter((end) => word.endsWith(end)).map((end) => word.slice(0, -end.length))].filter(
    (spelling, i) => i === 0 || spelling.length >= STEM_LETTERS_MIN,
  );
}

const PART = 'has word';
const WHOLE = 'has whole word';

/**
 * Conditions of which one must match: that a field contains the word. `PART` needs only the shortest spelling, which
 * all others contain.
 */
function anyFieldHas(paths: readonly Path[], word: Word, lookup: typeof PART | typeof WHOLE): AnyOf {
  const operand = { kind: 'text', values: lookup === PART ? word.slice(-1) : word } as const;
  return paths.map((path): readonly Condition[] => [{ key: 'search', path, lookup, isNegated: false, operand }]);
}

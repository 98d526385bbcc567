// The oracle's search: regular expressions over the texts of a record. Rules: design, "Search, place, period,
// embedding".
import type { Collection, Field } from '../../engine/schema/types.ts';
import type { World } from './filters.ts';
import { memberOf, type Json } from './json.ts';
import { lastValue, type Pair } from './query.ts';
import { lookedUpText } from './values.ts';

/** Search fields by collection: of the title, keywords, and all others. */
const FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  observations: [
    ['title'],
    ['keywords'],
    ['abstract', 'phenomena__names__name', 'phenomena__terms__value', 'projects__title'],
  ],
  phenomona: [[], [], ['names__name', 'terms__value']],
};
const USUAL = [['title'], ['keywords'], ['abstract', 'name', 'bboxName', 'firstName', 'lastName']];

/** Whether a record has every word, and its rank among those that do. */
export interface SearchTest {
  readonly matches: (record: Json, world: World) => boolean;
  readonly rank: (record: Json, world: World) => number;
}

/** The search that a query requires, and its errors; undefined if it has no effect. */
export function searchOf(
  pairs: readonly Pair[],
  collection: Collection,
  isStrict: boolean,
  linked: (name: string) => Collection,
): { readonly messages: readonly string[]; readonly isIgnored: boolean; readonly test?: SearchTest } {
  const value = lastValue(pairs, 'search');
  if (value === undefined) return { messages: [], isIgnored: false };
  const fields = FIELDS[collection.name] ?? USUAL;
  const paths = fields.map((names) => names.flatMap((name) => pathOf(collection.fields, name.split('__'), linked)));
  if (paths.flat().length === 0) return { messages: isStrict ? ['Unknown parameter.'] : [], isIgnored: true };
  if (value.includes('\0')) return { messages: ['Null characters are not allowed.'], isIgnored: false };
  const words = wordsIn(value);
  if (words.length > 16) return { messages: ['At most 16 words can be searched for at once.'], isIgnored: false };
  if (words.length === 0) return { messages: [], isIgnored: false };
  const textsIn = (record: Json, world: World, which: readonly number[]): readonly string[] =>
    which.flatMap((i) => paths[i]!.flatMap((path) => textsAt(record, path, world)));
  const has = (texts: readonly string[], patterns: readonly RegExp[]): boolean =>
    texts.some((text) => patterns.some((pattern) => pattern.test(text)));
  const ALL = [0, 1, 2];
  return {
    messages: [],
    isIgnored: false,
    test: {
      matches: (record, world) => words.every(({ part }) => has(textsIn(record, world, ALL), part)),
      rank: (record, world) => {
        const [titles, keywords, all] = [[0], [1], ALL].map((which) => textsIn(record, world, which)) as [
          readonly string[],
          readonly string[],
          readonly string[],
        ];
        const isWhole = words.every(({ whole }) => has(all, whole));
        const inTitle = words.filter(({ part }) => has(titles, part)).length;
        const isKeyword = words.some(({ part }) => has(keywords, part));
        const tier = inTitle === words.length ? 0 : inTitle > 0 ? 1 : isKeyword ? 2 : 3;
        return tier * 2 + (isWhole ? 0 : 1);
      },
    },
  };
}

function wordsIn(text: string): readonly { readonly part: readonly RegExp[]; readonly whole: readonly RegExp[] }[] {
  const words = [...text.matchAll(/"([^"]*)"?|([^\s"]+)/g)].map(([, phrase, word]) => plain(phrase ?? word!).trim());
  const folded = new Map(words.map((word) => [lowered(word), word]));
  return [...folded.values()]
    .filter((word) => word !== '')
    .map((word) => {
      const stems = ['s', 'es'].filter((end) => lowered(word).endsWith(end)).map((end) => word.slice(0, -end.length));
      const spellings = [word, ...stems.filter((stem) => stem.length >= 3)];
      const escaped = spellings.map((spelling) => spelling.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
      return {
        part: escaped.map((pattern) => new RegExp(pattern, 'iu')),
        whole: escaped.map((pattern) => new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, 'iu')),
      };
    });
}

/** Maps spellings that differ only in case to the same text. */
function lowered(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase();
}

/** A text without accents and other marks. Most texts are ASCII, which has none: half the time of a search. */
function plain(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text;
  return Array.from(text, (character) => {
    const [base, ...marks] = character.normalize('NFD');
    if (/\p{Mn}/u.test(base!)) return '';
    return marks.every((mark) => /\p{Mn}/u.test(mark)) ? base! : character;
  }).join('');
}

/** The fields of a path of names; empty if it does not end on a text of the collection. */
function pathOf(
  fields: readonly Field[],
  [name, ...rest]: readonly string[],
  linked: (name: string) => Collection,
): readonly (readonly Field[])[] {
  const field = fields.find((each) => each.name === name);
  if (!field) return [];
  if (rest.length === 0) return 'type' in field && field.type === 'text' ? [[field]] : [];
  const inner = 'fields' in field ? field.fields : 'to' in field ? linked(field.to).fields : [];
  return pathOf(inner, rest, linked).map((path) => [field, ...path]);
}

function textsAt(record: Json | undefined, [field, ...rest]: readonly Field[], world: World): readonly string[] {
  const value = memberOf(record, field!.name);
  const items = value?.kind === 'array' ? value.items : [value];
  if (rest.length > 0) {
    const { to } = field as { to?: string };
    return items.flatMap((item) => textsAt(to === undefined ? item : world.linked(to, item), rest, world));
  }
  return items.flatMap((item) => {
    const text = lookedUpText(item, world.text);
    return text === undefined ? [] : [plain(text)];
  });
}
